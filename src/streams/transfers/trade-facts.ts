/** The trade that a wallet's part in a transaction is, as far as its event and filters need it. */
import type { TradeRules } from '../../model/trade-rules.ts';
import { MAX_LISTED_ASSETS, NATIVE, type PartTransfer } from '../../model/wallet-part.ts';
import { MovedIds } from '../../trades/moved-ids.ts';
import { tradeOf } from '../../trades/trade.ts';
import { type TradeIds, TradePart } from '../../trades/trade-part.ts';
import { type Leg, type ToldTrade, tellTrade } from '../../trades/trade-record.ts';

/** What trades are told by: the lists in the ids of a source of transfers. */
export interface TradeContext {
  ids: TradeIds;
  /** The contracts of the native coin's equivalents, 40 hex digits. */
  equivalents: readonly string[];
}

export function equivalentsOf({ nativeEquivalents }: Pick<TradeRules, 'nativeEquivalents'>): string[] {
  return nativeEquivalents.map((address) => address.slice(2));
}

/** A trade by contracts (40 hex digits, empty for the native coin), because ids may be gone when it is removed. */
export interface TradeFacts extends ToldTrade<string> {
  /** The numbers of assets, including those not listed. */
  givenCount: number;
  receivedCount: number;
  /** All assets on both sides. */
  assets: readonly string[];
  /** How much of `asset` was traded, with the id of an ERC-1155 token in hex digits. Null without an asset. */
  traded: { amount: bigint; isCollection: boolean; tokenNumber: string | null } | null;
  /** Null without a quote. */
  quoteAmount: bigint | null;
  /** Contracts that mean the native coin. */
  equivalents: readonly string[];
}

/** The contracts by which filters may name an asset of a trade; the empty name too for the native coin. */
export function namesOf(asset: string, { equivalents }: Pick<TradeFacts, 'equivalents'>): readonly string[] {
  return asset === '' ? [asset, ...equivalents] : [asset];
}

/** Collects a wallet's transfers of one transaction. */
export class TradeCollector {
  private readonly context: TradeContext;
  private readonly wallet: number;
  private readonly part: TradePart;
  private readonly moved: MovedIds;

  constructor(wallet: number, context: TradeContext) {
    this.context = context;
    this.wallet = wallet;
    this.part = new TradePart(wallet, context.ids);
    this.moved = new MovedIds(wallet);
  }

  add(transfer: PartTransfer): void {
    this.part.add(transfer);
    this.moved.add(transfer);
  }

  /** Null if the part is no trade. The zero address has none. */
  finish(contractOf: (token: number) => string): TradeFacts | null {
    const { ids, equivalents } = this.context;
    const trade = this.wallet === ids.zero ? null : tradeOf(this.part, ids);
    if (trade === null) return null;
    const named = (token: number) => (token === NATIVE ? '' : contractOf(token));
    const { given, received, fees, asset, quote, kind } = tellTrade(trade, this.part, this.moved);
    const legs = (side: readonly Leg<number>[]) =>
      side.slice(0, MAX_LISTED_ASSETS).map((leg) => ({ ...leg, token: named(leg.token) }));
    const [paid, got] = kind === 'sell' ? [received, given] : [given, received];
    const traded = asset === null ? undefined : [...got, ...paid].find(({ token }) => token === asset);
    return {
      kind,
      given: legs(given),
      received: legs(received),
      fees: legs(fees),
      asset: asset === null ? null : named(asset),
      quote: quote === null ? null : named(quote),
      givenCount: given.length,
      receivedCount: received.length,
      assets: [...given, ...received].map(({ token }) => named(token)),
      traded: traded === undefined ? null : tradedOf(traded),
      quoteAmount: quote === null ? null : (paid[0]?.amount ?? null),
      equivalents,
    };
  }
}

/** Only the id of an ERC-1155 token is part of its asset. */
function tradedOf({ amount, isCollection, ids }: Leg<number>): TradeFacts['traded'] {
  return { amount, isCollection, tokenNumber: isCollection ? null : (ids?.[0] ?? null) };
}
