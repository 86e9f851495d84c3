/** What an event reports about its wallet's part in the transaction. */
import { isSemiFungible } from '../../model/transfer-kind.ts';
import { type AssetAmount, NATIVE, type PartTransfer, WalletPart } from '../../model/wallet-part.ts';

/** Most assets listed on each side of an exchange. Each event of the wallet in the transaction repeats the list. */
export const MAX_PAYMENTS = 100;

/** A net amount of one asset. */
export interface Payment {
  /** The contract, 40 hex digits; empty for the native coin. */
  token: string;
  /** The id of an ERC-1155 token, hex digits; null for other assets. */
  tokenNumber: string | null;
  amount: bigint;
}

/** What a wallet gave and got on balance in a transaction. */
export interface NetPayments {
  /** In the order of each asset's first transfer, at most MAX_PAYMENTS. */
  paid: readonly Payment[];
  received: readonly Payment[];
  /** The number of assets, including those not listed. */
  paidCount: number;
  receivedCount: number;
}

/** What an event reports about the wallet on its side. */
export interface SideFacts {
  /** The position among the wallet's events of the transaction, from 1, and their number; null if it is no event. */
  place: { leg: number; legs: number } | null;
  /** Null if unknown, for `reason`, and for a native transfer, whose events do not report it. */
  exchange: NetPayments | null;
  reason: string | null;
  /** Whether the wallet gained the asset on balance against something that it gave, as far as known. */
  isPurchase: boolean;
}

/** A zero transfer is no event. Nor is a token's transfer from a wallet to itself, which is neither buy nor sell. */
function isEvent({ from, to, token, amount }: PartTransfer): boolean {
  return amount !== 0n && (token === NATIVE || from !== to);
}

/** Collects a wallet's transfers of one transaction, in chain order. */
export class PartCollector {
  readonly wallet: number;
  private readonly part: WalletPart;
  /** The eventIndex of each transfer that is an event of the wallet. */
  private readonly events: number[] = [];

  constructor(wallet: number) {
    this.wallet = wallet;
    this.part = new WalletPart(wallet);
  }

  add(eventIndex: number, transfer: PartTransfer): void {
    this.part.add(transfer);
    if (isEvent(transfer)) this.events.push(eventIndex);
  }

  /** `gap` returns the number of the block if transfers of it may be missing. */
  finish(contractOf: (token: number) => string, gap: () => number | null): TransactionPart {
    return new TransactionPart(this.part, this.events, contractOf, gap);
  }
}

/** What a part says about purchases and sales. */
type Trade = Pick<SideFacts, 'exchange' | 'reason'> & { gaveSomething: boolean };

const NO_TRADE: Trade = { exchange: null, reason: null, gaveSomething: false };

/** The complete part of a wallet in a transaction. */
export class TransactionPart {
  private readonly part: WalletPart;
  private readonly events: readonly number[];
  private readonly contractOf: (token: number) => string;
  private readonly gap: () => number | null;
  /** Null until a token's event asks for it. */
  private trade: Trade | null = null;

  constructor(
    part: WalletPart,
    events: readonly number[],
    contractOf: (token: number) => string,
    gap: () => number | null,
  ) {
    this.part = part;
    this.events = events;
    this.contractOf = contractOf;
    this.gap = gap;
  }

  factsOf(eventIndex: number, transfer: PartTransfer): SideFacts {
    const { exchange, reason, gaveSomething } = transfer.token === NATIVE ? NO_TRADE : this.tradeOnce();
    const isPurchase = gaveSomething && this.part.changeOf(transfer) > 0n;
    return { place: this.placeOf(eventIndex), exchange, reason, isPurchase };
  }

  private tradeOnce(): Trade {
    this.trade ??= this.findTrade();
    return this.trade;
  }

  private findTrade(): Trade {
    const gap = this.gap();
    if (gap !== null)
      return {
        exchange: null,
        reason: `transfers of block ${gap} may be missing`,
        gaveSomething: true,
      };
    const given = this.part.given();
    const exchange = exchangeOf(given, this.part.received(), this.contractOf);
    return { exchange, reason: null, gaveSomething: given.length > 0 };
  }

  private placeOf(eventIndex: number): SideFacts['place'] {
    const { events } = this;
    let low = 0;
    for (let high = events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (events[middle]! < eventIndex) low = middle + 1;
      else high = middle;
    }
    return events[low] === eventIndex ? { leg: low + 1, legs: events.length } : null;
  }
}

function exchangeOf(
  given: readonly AssetAmount[],
  received: readonly AssetAmount[],
  contractOf: (token: number) => string,
): NetPayments {
  const payment = ({ kind, token, tokenNumber, amount }: AssetAmount): Payment => ({
    token: token === NATIVE ? '' : contractOf(token),
    tokenNumber: isSemiFungible(kind) ? tokenNumber : null,
    amount,
  });
  return {
    paid: given.slice(0, MAX_PAYMENTS).map(payment),
    received: received.slice(0, MAX_PAYMENTS).map(payment),
    paidCount: given.length,
    receivedCount: received.length,
  };
}
