import type { ConfiguredLists } from '../model/index-rules.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { Config } from './schema.ts';

/** The contracts that `[chain]` adds to the known ones. */
export function configuredLists({ chain }: Pick<Config, 'chain'>): ConfiguredLists {
  return {
    wrappedNative: chain.wrapped_native,
    nativeContracts: chain.native_contracts,
    unindexedErc20: chain.unindexed_erc20,
  };
}

/** The contracts that `[trades]` adds to the known ones. */
export function configuredTradeLists({ trades }: Pick<Config, 'trades'>): ConfiguredTradeLists {
  return {
    nativeEquivalents: trades.native_equivalents,
    quoteTokens: trades.quote_tokens,
    feeSinks: trades.fee_sinks,
  };
}
