/** The members of a trade's record that follow from its transfers, for REST, streams and webhooks. */
import { digitsToBigInt, type Hex } from '../lib/hex.ts';
import type { TradeKind } from '../model/trade-kind.ts';
import { movesOne, TransferKind, type ViewKind } from '../model/transfer-kind.ts';
import type { AssetAmount } from '../model/wallet-part.ts';
import { LISTED_IDS, type MovedIds } from './moved-ids.ts';
import { priceText } from './price.ts';
import type { Trade } from './trade.ts';
import type { TradePart } from './trade-part.ts';

/** How an asset is shown. */
export interface AssetDisplay {
  /** Null for the native coin. */
  tokenAddress: Hex | null;
  symbol: string | null;
  decimals: number | null;
}

/** Decimals of amounts: an ERC-721 collection is counted in tokens. Null where amounts are sums of ids. */
export function assetDecimals(
  { decimals, viewKind }: { decimals: number | null; viewKind: ViewKind },
  isCollection: boolean,
): number | null {
  const form = isCollection ? TransferKind.erc721 : TransferKind.erc20;
  if (viewKind !== null && viewKind !== form) return null;
  return isCollection ? 0 : decimals;
}

/** What a trade moved of one asset. `Token` names a token: an id, or its contract. */
export interface Leg<Token> {
  token: Token;
  /** Whether amounts are counted in ERC-721 tokens. */
  isCollection: boolean;
  /** Of fees below zero where it came back. */
  amount: bigint;
  /** The first LISTED_IDS ids of NFTs, hex digits, and how many there are; null for other assets. */
  ids: readonly string[] | null;
  count: number | null;
}

/** A trade with all that its record says. */
export interface ToldTrade<Token> {
  kind: TradeKind;
  given: readonly Leg<Token>[];
  received: readonly Leg<Token>[];
  fees: readonly Leg<Token>[];
  /** As in `Trade`. */
  asset: Token | null;
  quote: Token | null;
}

/** `moved`: of the same transfers as `part`. */
export function tellTrade(
  { kind, given, received, asset, quote }: Trade,
  part: TradePart,
  moved: MovedIds,
): ToldTrade<number> {
  const legs = (amounts: readonly AssetAmount[], sign: 1 | -1) =>
    amounts.map((amount) => legOf(amount, moved.of(amount, sign)));
  return {
    kind,
    given: legs(given, -1),
    received: legs(received, 1),
    fees: legs(part.fees(), -1),
    asset: asset === null ? null : asset.token,
    quote,
  };
}

/** `ids`: digits of all NFTs in it. */
export function legOf({ kind, token, amount }: AssetAmount, ids: readonly string[] | null): Leg<number> {
  return {
    token,
    isCollection: movesOne(kind),
    amount,
    ids: ids?.slice(0, LISTED_IDS) ?? null,
    count: ids?.length ?? null,
  };
}

/** A leg as its record shows it. */
export type LegRecord = AssetDisplay & { amount: string; tokenIds: string[] | null; count: number | null };

/** The members of the record. */
export function tradeMembers<Token>(
  { kind, given, received, fees, asset, quote }: ToldTrade<Token>,
  display: (token: Token, isCollection: boolean) => AssetDisplay,
) {
  const legs = (side: readonly Leg<Token>[]) => side.map((leg) => legRecord(leg, display));
  const [gave, got] = [legs(given), legs(received)];
  const [paid, traded] = kind === 'buy' ? [gave[0], got[0]] : [got[0], gave[0]];
  const isPriced = quote !== null && paid !== undefined && traded !== undefined;
  return {
    kind,
    given: gave,
    received: got,
    fees: legs(fees),
    tokenAddress: asset === null ? null : display(asset, false).tokenAddress,
    quote: quote === null ? null : display(quote, false),
    price: isPriced ? priceText(decimalAmount(paid), decimalAmount(traded)) : null,
  };
}

export function legRecord<Token>(
  { token, isCollection, amount, ids, count }: Leg<Token>,
  display: (token: Token, isCollection: boolean) => AssetDisplay,
): LegRecord {
  const { tokenAddress, symbol, decimals } = display(token, isCollection);
  return {
    tokenAddress,
    amount: amount.toString(),
    symbol,
    decimals,
    tokenIds: ids?.map((digits) => digitsToBigInt(digits).toString()) ?? null,
    count,
  };
}

function decimalAmount({ amount, decimals }: LegRecord) {
  return { amount: BigInt(amount), decimals };
}
