/** What a wallet's part in a transaction is: a buy, a sell, a swap, or more than one asset on a side. */
import type { TradeKind } from '../model/trade-kind.ts';
import { isSemiFungible, TransferKind } from '../model/transfer-kind.ts';
import { type Asset, type AssetAmount, NATIVE, type PartTransfer } from '../model/wallet-part.ts';
import { type TradeIds, type TradePart, tradePartsOf } from './trade-part.ts';

export interface Trade {
  kind: TradeKind;
  /** At least one asset each. */
  given: readonly AssetAmount[];
  received: readonly AssetAmount[];
  /**
   * What was bought or sold; of a mixed trade the one asset that is no quote, if it is one. Null where there is none.
   */
  asset: Asset | null;
  /** What a buy gave and a sell received: NATIVE or a token's id. Null for the other kinds. */
  quote: number | null;
}

/** How a trade counts in sums of its wallet, asset and quote. */
export interface SummedTrade {
  /** tokens.id of what was bought or sold, or NATIVE. */
  token: number;
  /** NATIVE or a token's id. */
  quote: number;
  isBuy: boolean;
  /** Of the token, in its base units; ERC-721 in tokens. */
  amount: bigint;
  /** Of the quote: what a buy cost, what a sale brought. */
  quoteAmount: bigint;
}

/** Null for a part that gave or received nothing on balance: a transfer, a gift, an arbitrage. */
export function tradeOf(part: TradePart, ids: TradeIds): Trade | null {
  const given = part.given();
  if (given.length === 0) return null;
  const received = part.received();
  if (received.length === 0) return null;
  const [paid] = given;
  const [got] = received;
  if (given.length > 1 || received.length > 1 || paid === undefined || got === undefined)
    return { kind: 'mixed', given, received, asset: assetOfMixed([...given, ...received], ids), quote: null };
  const sides = { given, received };
  // A quote token prices the native coin, and both price everything else.
  const [paidRank, gotRank] = [quoteRank(paid, ids), quoteRank(got, ids)];
  if (paidRank === gotRank) return { kind: 'swap', ...sides, asset: null, quote: null };
  return paidRank > gotRank
    ? { kind: 'buy', ...sides, asset: got, quote: paid.token }
    : { kind: 'sell', ...sides, asset: paid, quote: got.token };
}

/** 2 for a quote token, 1 for the native coin, 0 for what neither is. */
function quoteRank(asset: Asset, ids: TradeIds): number {
  if (isQuoteToken(asset, ids)) return 2;
  return asset.token === NATIVE ? 1 : 0;
}

function isQuoteToken({ kind, token }: Asset, { quoteTokens }: TradeIds): boolean {
  return kind === TransferKind.erc20 && quoteTokens.has(token);
}

/** The one asset that all others are quotes for. */
function assetOfMixed(assets: readonly AssetAmount[], ids: TradeIds): Asset | null {
  const others = assets.filter((asset) => quoteRank(asset, ids) < 2);
  const tokens = others.filter(({ token }) => token !== NATIVE);
  const [only, second] = tokens.length === 0 ? others : tokens;
  return second === undefined ? (only ?? null) : null;
}

/** Null for what is listed only: swaps, mixed trades, and those of an ERC-1155 token. */
export function summedTrade({ kind, given, received, asset, quote }: Trade): SummedTrade | null {
  const [paid] = given;
  const [got] = received;
  if (asset === null || quote === null || isSemiFungible(asset.kind)) return null;
  if (paid === undefined || got === undefined) return null;
  const isBuy = kind === 'buy';
  const [amount, quoteAmount] = isBuy ? [got.amount, paid.amount] : [paid.amount, got.amount];
  return { token: asset.token, quote, isBuy, amount, quoteAmount };
}

/** The trades of all wallets in one transaction, from its transfers; of those that moved `ofToken` if it is given. */
export function tradesOfTransaction(
  transfers: readonly PartTransfer[],
  ids: TradeIds,
  ofToken: number | null = null,
): { wallet: number; part: TradePart; trade: Trade }[] {
  const found: ReturnType<typeof tradesOfTransaction> = [];
  for (const { wallet, part } of tradePartsOf(transfers, ids, ofToken)) {
    const trade = tradeOf(part, ids);
    if (trade !== null) found.push({ wallet, part, trade });
  }
  return found;
}
