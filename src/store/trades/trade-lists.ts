/** The lists by which the trades of whole blocks are told, for copies of the index. */
import {
  type ConfiguredTradeLists,
  formatTradeRules,
  newTradeRules,
  type TradeRules,
} from '../../model/trade-rules.ts';
import type { TradeIds } from '../../trades/trade-part.ts';
import { chainOf } from '../chain.ts';
import { readRules } from '../index-rules.ts';
import type { Db } from '../open-database.ts';
import { prepareStoredTradeIds, prepareTradeGenerations } from './trade-generations.ts';

export interface TradeLists {
  ids: TradeIds;
  /** Equal texts mean equal trades of equal transfers. */
  rules: string;
}

/**
 * The lists as of the transaction of the caller: those of the program and this configuration while the index has none.
 */
export function prepareTradeLists(db: Db, configured: ConfiguredTradeLists): () => TradeLists {
  const generations = prepareTradeGenerations(db);
  const idsOf = prepareStoredTradeIds(db);
  const revisionOf = db.prepare<[], number>('PRAGMA data_version').pluck();
  let known: (TradeLists & { revision: number }) | null = null;
  return () => {
    const revision = revisionOf.get() ?? 0;
    if (known?.revision !== revision) {
      const rules = generations().current?.rules ?? configuredRules(db, configured);
      known = { revision, rules: formatTradeRules(rules), ids: idsOf(rules) };
    }
    return known;
  };
}

function configuredRules(db: Db, configured: ConfiguredTradeLists): TradeRules {
  const chainId = chainOf(db)?.chainId ?? 0;
  return newTradeRules({ chainId, wrappedNative: readRules(db)?.wrappedNative ?? [], configured });
}
