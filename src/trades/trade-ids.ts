/** The lists of an index (model/trade-rules.ts) by the ids that its transfers use. */
import type { Hex } from '../lib/hex.ts';
import type { TradeRules } from '../model/trade-rules.ts';
import type { TradeIds } from './trade-part.ts';

/** How an index finds its ids. A contract has an id once it has a transfer, so the lists grow along the chain. */
export interface IdLookup extends Pick<TradeIds, 'zero' | 'countsUnits'> {
  walletOf(address: Hex): number | undefined;
  tokenOf(address: Hex): number | undefined;
}

export function tradeIdsOf(rules: TradeRules, lookup: IdLookup): TradeIds {
  const idsOf = (addresses: readonly Hex[], idOf: (address: Hex) => number | undefined) =>
    new Set(addresses.map(idOf).filter((id) => id !== undefined));
  return {
    zero: lookup.zero,
    countsUnits: lookup.countsUnits,
    feeSinks: idsOf(rules.feeSinks, lookup.walletOf),
    equivalentContracts: idsOf(rules.nativeEquivalents, lookup.walletOf),
    nativeEquivalents: idsOf(rules.nativeEquivalents, lookup.tokenOf),
    quoteTokens: idsOf(rules.quoteTokens, lookup.tokenOf),
  };
}
