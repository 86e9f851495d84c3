/** A transfer on its way to subscribers. Each of its payloads is serialised once, on first use. */
import { ZERO_DIGITS } from '../../model/address.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import { Notification } from '../subscription.ts';
import { type ChainInfo, type SignalSubject, signalJson, transferJson } from './event-json.ts';
import type { Direction, Signal } from './signals.ts';
import type { Payment, TransactionLegs } from './transaction-legs.ts';
import type { Parties } from './transaction-parties.ts';

/** The source of a transfer, which provides facts about its transaction and wallets. */
export interface EventSource {
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
  /** The transfers of the same transaction; null if there are too many. */
  legsOf(row: EventRow): TransactionLegs | null;
  /** Whether the transfer is the first of the wallet on that side. */
  isFirst(row: EventRow, direction: Direction): boolean;
  /** Sender and receiver of the transaction; undefined while they are being fetched, null if the node lacks them. */
  partiesOf(row: EventRow): Parties | null | undefined;
}

/** A wallet's part in the transaction of a transfer that it sent or received. */
interface SideFacts {
  place: { leg: number; legs: number } | null;
  exchanged: readonly Payment[] | null;
}

/** Facts reported about a transfer. Its removal repeats them after the block is gone. */
interface LearnedFacts {
  sides: Partial<Record<Direction, SideFacts>>;
  isFirst: Partial<Record<Direction, boolean>>;
  parties: Parties | null | undefined;
}

/** The form of a push: a signal, or as a direction a `wallet_transfers` payload. */
export type Form = Direction | Signal;

const UNKNOWN_SIDE: SideFacts = { place: null, exchanged: null };

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

  place(direction: Direction): { leg: number; legs: number } | null {
    return this.side(direction).place;
  }

  exchanged(direction: Direction): readonly Payment[] | null {
    return this.side(direction).exchanged;
  }

  isFirst(direction: Direction): boolean {
    const { isFirst } = this.learned;
    isFirst[direction] ??= this.source?.isFirst(this.row, direction) ?? false;
    return isFirst[direction];
  }

  /** Sender and receiver of the transaction, null while unknown. */
  parties(): Parties | null {
    this.learned.parties ??= isDirect(this.row) ? this.row : this.source?.partiesOf(this.row);
    return this.learned.parties ?? null;
  }

  /** Whether sender and receiver of the transaction are still being fetched. */
  awaitsParties(): boolean {
    this.parties();
    return this.learned.parties === undefined && this.source !== null;
  }

  /** Sets the token metadata, once read. */
  nameToken(token: Pick<EventRow, 'symbol' | 'decimals'>): void {
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

  private side(direction: Direction): SideFacts {
    const { sides } = this.learned;
    sides[direction] ??= this.source === null ? UNKNOWN_SIDE : sideOf(this.row, this.source, direction);
    return sides[direction];
  }
}

function sideOf(row: EventRow, source: EventSource, direction: Direction): SideFacts {
  const legs = source.legsOf(row);
  if (legs === null) return UNKNOWN_SIDE;
  const wallet = direction === 'in' ? row.to : row.from;
  return {
    place: legs.placeOf(wallet, row.eventIndex),
    exchanged: direction === 'in' ? legs.sentBy(wallet) : legs.receivedBy(wallet),
  };
}

/** Whether a transfer is the transaction's own value. So is Monad's block reward, but it is shown as a mint. */
function isDirect({ kind, from }: EventRow): boolean {
  return kind === TransferKind.nativeDirect && from !== ZERO_DIGITS;
}
