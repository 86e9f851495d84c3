/** The members of a `wallet_trade` that other signals do not have, or have of a transfer. */
import { digitsToBigInt } from '../../lib/hex.ts';
import { NATIVE_DECIMALS } from '../../lib/units.ts';
import { labelMembers } from '../../model/label.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import { type AssetDisplay, assetDecimals, tradeMembers } from '../../trades/trade-record.ts';
import type { ChainInfo, EventAmount } from './event-json.ts';
import type { TradeFacts } from './trade-facts.ts';

/** Whoever reports a trade. */
interface TradeSubject {
  readonly row: { uncertain: 0 | 1 };
  readonly chainInfo: ChainInfo;
  readonly tokenFacts: TokenSymbols;
}

/** What a trade bought or sold, with its amount; of a swap and of most mixed trades nothing. */
export function tradedAsset({ asset, traded }: TradeFacts, subject: TradeSubject): EventAmount {
  if (asset === null)
    return { asset: { token: '', tokenId: null, symbol: null, decimals: null }, units: null };
  const tokenNumber = traded?.tokenNumber ?? null;
  const { symbol, decimals } = displayOf(subject, asset, traded?.isCollection === true);
  const tokenId = tokenNumber === null ? null : digitsToBigInt(tokenNumber).toString();
  return { asset: { token: asset, tokenId, symbol, decimals }, units: traded?.amount ?? null };
}

/** The members that only trades have, each followed by a comma. */
export function tradeJson(trade: TradeFacts, subject: TradeSubject): string {
  const { chainInfo, row } = subject;
  const labelled = <T extends { tokenAddress: string | null }>(asset: T) => ({
    ...asset,
    ...labelMembers(asset, ['tokenAddress'], chainInfo.labels),
  });
  const display = (token: string, isCollection: boolean) => displayOf(subject, token, isCollection);
  const { kind, given, received, fees, quote, price } = tradeMembers(trade, display);
  const members = {
    kind,
    given: given.map(labelled),
    givenCount: trade.givenCount,
    received: received.map(labelled),
    receivedCount: trade.receivedCount,
    fees: fees.map(labelled),
    quote: quote && labelled(quote),
    price,
    ...(row.uncertain === 0 && { uncertain: false }), // true stands among the members of every event
  };
  return `${JSON.stringify(members).slice(1, -1)},`;
}

function displayOf(
  { chainInfo, tokenFacts }: TradeSubject,
  token: string,
  isCollection: boolean,
): AssetDisplay {
  if (token === '') return { tokenAddress: null, symbol: chainInfo.nativeSymbol, decimals: NATIVE_DECIMALS };
  const facts = tokenFacts(token);
  return {
    tokenAddress: `0x${token}`,
    symbol: facts.symbol,
    decimals: assetDecimals(facts, isCollection),
  };
}
