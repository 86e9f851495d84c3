/** What an event reports about its wallet's part in the transaction. */
import { isSemiFungible } from '../../model/transfer-kind.ts';
import {
  type Asset,
  type AssetAmount,
  MAX_LISTED_ASSETS,
  NATIVE,
  type PartTransfer,
  WalletPart,
} from '../../model/wallet-part.ts';
import { TradeCollector, type TradeContext, type TradeFacts } from './trade-facts.ts';

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
  /** In the order of each asset's first transfer, at most MAX_LISTED_ASSETS. */
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
  /** The trade that the part is, told at the last event; else null. Undefined if nobody asked for trades. */
  trade?: TradeFacts | null;
}

/** A zero transfer is no event. Nor is a token's transfer from a wallet to itself, which is neither buy nor sell. */
function isEvent({ from, to, token, amount }: PartTransfer): boolean {
  return amount !== 0n && (token === NATIVE || from !== to);
}

/** Collects a wallet's transfers of one transaction, in chain order. */
export class PartCollector {
  readonly wallet: number;
  private readonly part: WalletPart;
  private readonly trade: TradeCollector | null;
  /** The eventIndex of each transfer that is an event of the wallet. */
  private readonly events: number[] = [];

  /** `trades`: what trades are told by; null if nobody asks for them. */
  constructor(wallet: number, trades: TradeContext | null = null) {
    this.wallet = wallet;
    this.part = new WalletPart(wallet);
    this.trade = trades && new TradeCollector(wallet, trades);
  }

  /** Whether it collects what a trade is told by. */
  get tellsTrade(): boolean {
    return this.trade !== null;
  }

  add(eventIndex: number, transfer: PartTransfer): void {
    this.part.add(transfer);
    this.trade?.add(transfer);
    if (isEvent(transfer)) this.events.push(eventIndex);
  }

  /** `gap` returns the number of the block if transfers of it may be missing. */
  finish(contractOf: (token: number) => string, gap: () => number | null): TransactionPart {
    const { part, trade, events } = this;
    return new TransactionPart({ part, trade, events, contractOf, gap });
  }
}

interface CollectedPart {
  part: WalletPart;
  trade: TradeCollector | null;
  events: readonly number[];
  contractOf(token: number): string;
  gap(): number | null;
}

/** What a part says about purchases and sales. */
type WalletExchange = Pick<SideFacts, 'exchange' | 'reason'> & { gaveSomething: boolean };

const NO_EXCHANGE: WalletExchange = { exchange: null, reason: null, gaveSomething: false };

/** The complete part of a wallet in a transaction. */
export class TransactionPart {
  private readonly collected: CollectedPart;
  /** Null until a token's event asks for it. */
  private exchange: WalletExchange | null = null;
  /** Undefined until an event asks for it. */
  private trade: TradeFacts | null | undefined = undefined;

  constructor(collected: CollectedPart) {
    this.collected = collected;
  }

  get tellsTrade(): boolean {
    return this.collected.trade !== null;
  }

  factsOf(eventIndex: number, transfer: Asset): SideFacts {
    const { exchange, reason, gaveSomething } = transfer.token === NATIVE ? NO_EXCHANGE : this.exchangeOnce();
    const isPurchase = gaveSomething && this.collected.part.changeOf(transfer) > 0n;
    const place = this.placeOf(eventIndex);
    const facts = { place, exchange, reason, isPurchase };
    return this.tellsTrade ? { ...facts, trade: this.tradeAt(place) } : facts;
  }

  private exchangeOnce(): WalletExchange {
    this.exchange ??= this.findExchange();
    return this.exchange;
  }

  private findExchange(): WalletExchange {
    const { part, contractOf } = this.collected;
    const gap = this.collected.gap();
    if (gap !== null)
      return {
        exchange: null,
        reason: `transfers of block ${gap} may be missing`,
        gaveSomething: true,
      };
    const given = part.given();
    const exchange = exchangeOf(given, part.received(), contractOf);
    return { exchange, reason: null, gaveSomething: given.length > 0 };
  }

  /** The last event of the wallet reports its trade, which is complete by then. */
  private tradeAt(place: SideFacts['place']): TradeFacts | null {
    const { trade, contractOf } = this.collected;
    if (trade === null || place === null || place.leg < place.legs) return null;
    if (this.trade === undefined) this.trade = trade.finish(contractOf);
    return this.trade;
  }

  private placeOf(eventIndex: number): SideFacts['place'] {
    const { events } = this.collected;
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
    paid: given.slice(0, MAX_LISTED_ASSETS).map(payment),
    received: received.slice(0, MAX_LISTED_ASSETS).map(payment),
    paidCount: given.length,
    receivedCount: received.length,
  };
}
