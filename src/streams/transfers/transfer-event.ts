/** A transfer on its way to subscribers. Each of its payloads is serialised once, on first use. */
import { ZERO_DIGITS } from '../../model/address.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import { Notification } from '../subscription.ts';
import { type ChainInfo, transferJson } from './event-json.ts';
import { type SignalSubject, signalJson } from './signal-json.ts';
import type { Direction, Signal } from './signals.ts';
import type { SideFacts } from './transaction-part.ts';
import type { PartiesLookup } from './transaction-parties.ts';

/** The source of a transfer, which provides facts about its transaction and wallets. */
export interface EventSource {
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** Whether the transaction is so large that `sideOf` may need several calls. */
  isLarge(row: EventRow): boolean;
  /** The part of the wallet on that side in the transaction. Undefined while more calls are needed: each reads a piece. */
  sideOf(row: EventRow, direction: Direction): SideFacts | undefined;
  /** Whether the transfer is the first of the wallet on that side. */
  isFirst(row: EventRow, direction: Direction): boolean;
  /** Sender and receiver of the transaction; undefined while they are being fetched. */
  partiesOf(row: EventRow): PartiesLookup | undefined;
}

/** Names the sides of a transaction that it will ask about. */
interface Examiner {
  /** Whether it asks about any. */
  readonly examines: boolean;
  sidesOf(event: TransferEvent): readonly Direction[];
}

/** Facts reported about a transfer. Its removal repeats them after the block is gone. */
interface LearnedFacts {
  sides: Partial<Record<Direction, SideFacts>>;
  isFirst: Partial<Record<Direction, boolean>>;
  parties: PartiesLookup | undefined;
}

/** The form of a push: a signal, or as a direction a `wallet_transfers` payload. */
export type Form = Direction | Signal;

/** Of a detached event whose side nobody asked about before. */
const UNKNOWN_SIDE: SideFacts = {
  place: null,
  exchange: null,
  reason: 'the block was removed before the transaction was examined',
  isPurchase: true,
};

const UNANSWERED: PartiesLookup = {
  parties: null,
  reason: 'the node had not answered when the event had to be sent',
};

export class TransferEvent implements SignalSubject {
  readonly row: EventRow;
  readonly removed: boolean;
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** Null once the event is kept only for its possible removal, because a source may hold a whole block. */
  private readonly source: EventSource | null;
  private readonly learned: LearnedFacts;
  private readonly notifications = new Map<Form, Notification>();

  /** `source` is null for a copy, which shares the `learned` facts of the original. */
  private constructor(
    row: EventRow,
    removed: boolean,
    { chainInfo, tokenFacts }: Pick<EventSource, 'chainInfo' | 'tokenFacts'>,
    source: EventSource | null,
    learned: LearnedFacts,
  ) {
    this.row = row;
    this.removed = removed;
    this.chainInfo = chainInfo;
    this.tokenFacts = tokenFacts;
    this.source = source;
    this.learned = learned;
  }

  static from(source: EventSource, row: EventRow, removed = false): TransferEvent {
    return new TransferEvent(row, removed, source, source, { sides: {}, isFirst: {}, parties: undefined });
  }

  /** The same transfer without its source. The copy shares facts learned later about the original. */
  detached(): TransferEvent {
    return new TransferEvent(this.row, this.removed, this, null, this.learned);
  }

  /** The removal of the event. */
  asRemoved(): TransferEvent {
    return new TransferEvent(this.row, true, this, null, this.learned);
  }

  /** Adopts the facts learned by another copy of the same transfer. */
  learnFrom({ learned }: TransferEvent): void {
    Object.assign(this.learned.sides, learned.sides);
    Object.assign(this.learned.isFirst, learned.isFirst);
    this.learned.parties ??= learned.parties;
  }

  /** The part of the wallet on that side in the transaction. Learned on first use. */
  side(direction: Direction): SideFacts {
    while (!this.examine(direction));
    return this.learned.sides[direction] ?? UNKNOWN_SIDE;
  }

  /** Learns what the forms report, because a held event may outlast its block in the index. */
  learn(forms: readonly Form[]): void {
    for (const form of forms) if (typeof form === 'object') this.side(form.direction);
  }

  /** Examines the sides that the subscribers need, in pieces if the transaction is large. */
  *prepare(subscribers: readonly Examiner[]): Generator<void, void, void> {
    const { source, row } = this;
    if (source === null) return;
    for (const subscriber of subscribers) {
      if (!subscriber.examines || !source.isLarge(row)) continue;
      for (const direction of subscriber.sidesOf(this)) while (!this.examine(direction)) yield;
    }
  }

  isFirst(direction: Direction): boolean {
    const { isFirst } = this.learned;
    isFirst[direction] ??= this.source?.isFirst(this.row, direction) ?? false;
    return isFirst[direction];
  }

  /** Sender and receiver of the transaction, or why they are unknown. */
  parties(): PartiesLookup {
    this.learned.parties ??= isDirect(this.row)
      ? { parties: this.row, reason: null }
      : this.source?.partiesOf(this.row);
    return this.learned.parties ?? UNANSWERED;
  }

  /** Whether sender and receiver of the transaction are still being fetched. */
  awaitsParties(): boolean {
    this.parties();
    return this.learned.parties === undefined && this.source !== null;
  }

  /** Sets the token metadata, once read. */
  nameToken(token: ReturnType<TokenSymbols>): void {
    Object.assign(this.row, token);
    this.notifications.clear();
  }

  notification(form: Form): Notification {
    let notification = this.notifications.get(form);
    if (notification === undefined) {
      notification =
        typeof form === 'string'
          ? new Notification('eth_subscription', transferJson(this.row, form, this.removed, this.chainInfo))
          : new Notification('atlas_subscription', signalJson(this, form, Date.now()));
      this.notifications.set(form, notification);
    }
    return notification;
  }

  /** Examines a piece of the transaction. Returns true once nothing is left to examine. */
  private examine(direction: Direction): boolean {
    const { sides } = this.learned;
    if (this.source === null) return true;
    sides[direction] ??= this.source.sideOf(this.row, direction);
    return sides[direction] !== undefined;
  }
}

/** Whether a transfer is the transaction's own value. So is Monad's block reward, but it is shown as a mint. */
function isDirect({ kind, from }: EventRow): boolean {
  return kind === TransferKind.nativeDirect && from !== ZERO_DIGITS;
}
