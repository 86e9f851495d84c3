/** A transfer on its way to subscribers. Each of its payloads is serialised once, on first use. */
import { ZERO_DIGITS } from '../../model/address.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import { type TokenSymbols, UNREAD_TOKEN } from '../../query/tokens.ts';
import { Notification } from '../subscription.ts';
import { type ChainInfo, transferJson } from './event-json.ts';
import { type SignalSubject, signalJson } from './signal-json.ts';
import type { Direction, Signal } from './signals.ts';
import type { TradeFacts } from './trade-facts.ts';
import type { SideFacts } from './transaction-part.ts';
import type { PartiesLookup } from './transaction-parties.ts';

/** The source of a transfer, which provides facts about its transaction and wallets. */
export interface EventSource {
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** Whether the transaction is so large that `sideOf` may need several calls. */
  isLarge(row: EventRow): boolean;
  /**
   * The part of the wallet on that side in the transaction, with its trade if asked for. Undefined while more calls are
   * needed: each reads a piece.
   */
  sideOf(row: EventRow, direction: Direction, withTrade: boolean): SideFacts | undefined;
  /** Whether the transfer is the first of the wallet on that side. */
  isFirst(row: EventRow, direction: Direction): boolean;
  /** Whether the transfer is the first of its token, which it has. */
  isFirstOfToken(row: EventRow): boolean;
  /** Sender and receiver of the transaction; undefined while they are being fetched. */
  partiesOf(row: EventRow): PartiesLookup | undefined;
}

/** Names the sides of a transaction that it will ask about. */
export interface Examiner {
  /** Whether it asks about any, and about their trades. */
  readonly examines: boolean;
  readonly examinesTrades: boolean;
  sidesOf(event: TransferEvent): readonly Direction[];
}

/** Facts reported about a transfer. Its removal repeats them after the block is gone. */
interface LearnedFacts extends Record<Direction, LearnedSide> {
  parties: PartiesLookup | undefined;
  isFirstOfToken: boolean | undefined;
}

interface LearnedSide {
  facts: SideFacts | undefined;
  isFirst: boolean | undefined;
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
  /** Most events have one form. */
  private notifications: { form: Form; notification: Notification }[] = [];

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
    return new TransferEvent(row, removed, source, source, {
      in: unlearned(),
      out: unlearned(),
      parties: undefined,
      isFirstOfToken: undefined,
    });
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
    for (const direction of ['in', 'out'] as const) {
      const own = this.learned[direction];
      const other = learned[direction];
      if (own.facts?.trade === undefined) own.facts = other.facts ?? own.facts;
      own.isFirst = other.isFirst ?? own.isFirst;
    }
    this.learned.parties ??= learned.parties;
    this.learned.isFirstOfToken ??= learned.isFirstOfToken;
  }

  /** The part of the wallet on that side in the transaction. Learned on first use. */
  side(direction: Direction): SideFacts {
    return this.sideWith(direction, false);
  }

  /** The trade that the wallet on that side made, at its last event in the transaction. Learned on first use. */
  trade(direction: Direction): TradeFacts | null {
    return this.sideWith(direction, true).trade ?? null;
  }

  private sideWith(direction: Direction, withTrade: boolean): SideFacts {
    while (!this.examine(direction, withTrade));
    return this.learned[direction].facts ?? UNKNOWN_SIDE;
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
      for (const direction of subscriber.sidesOf(this))
        while (!this.examine(direction, subscriber.examinesTrades)) yield;
    }
  }

  isFirst(direction: Direction): boolean {
    const side = this.learned[direction];
    side.isFirst ??= this.source?.isFirst(this.row, direction) ?? false;
    return side.isFirst;
  }

  isFirstOfToken(): boolean {
    const { learned, row } = this;
    learned.isFirstOfToken ??= row.token !== '' && this.source?.isFirstOfToken(row) === true;
    return learned.isFirstOfToken;
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

  /** Whether the wallet on a side sent the transaction; null while unknown. */
  isInitiated(direction: Direction): boolean | null {
    const { parties } = this.parties();
    return parties === null ? null : parties.from === (direction === 'in' ? this.row.to : this.row.from);
  }

  /** Stays unknown from now on if the parties are: the event and its removal pass the same filters. */
  settleParties(): void {
    this.learned.parties ??= this.parties();
  }

  /** Whether the contract of an asset that a form names may still tell its symbol. */
  awaitsTokens(
    { event, direction }: Signal,
    metadata: { awaitsToken(token: string, timestamp: number): boolean },
  ): boolean {
    if (event !== 'wallet_trade') return false;
    const { given = [], received = [], fees = [] } = this.trade(direction) ?? {};
    return [...given, ...received, ...fees].some(
      ({ token }) =>
        token !== '' &&
        this.tokenFacts(token) === UNREAD_TOKEN &&
        metadata.awaitsToken(token, this.row.timestamp),
    );
  }

  /** Sets the token metadata, once read. */
  nameToken(token: ReturnType<TokenSymbols>): void {
    Object.assign(this.row, token);
    this.notifications = [];
  }

  notification(form: Form): Notification {
    for (const known of this.notifications) if (known.form === form) return known.notification;
    const notification =
      typeof form === 'string'
        ? new Notification('eth_subscription', transferJson(this.row, form, this.removed, this.chainInfo))
        : new Notification('atlas_subscription', signalJson(this, form, Date.now()));
    this.notifications.push({ form, notification });
    return notification;
  }

  /** Examines a piece of the transaction. Returns true once nothing is left to examine. */
  private examine(direction: Direction, withTrade: boolean): boolean {
    const side = this.learned[direction];
    const known = side.facts;
    if (this.source === null || (known !== undefined && !(withTrade && known.trade === undefined)))
      return true;
    const facts = this.source.sideOf(this.row, direction, withTrade);
    if (facts === undefined) return false;
    side.facts = facts;
    return true;
  }
}

function unlearned(): LearnedSide {
  return { facts: undefined, isFirst: undefined };
}

/** Whether a transfer is the transaction's own value. So is Monad's block reward, but it is shown as a mint. */
export function isDirect({ kind, from }: EventRow): boolean {
  return kind === TransferKind.nativeDirect && from !== ZERO_DIGITS;
}
