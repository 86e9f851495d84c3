import type { ConfiguredLists } from '../model/index-rules.ts';
import type { Config } from './schema.ts';

/** The contracts that `[chain]` adds to the known ones. */
export function configuredLists({ chain }: Pick<Config, 'chain'>): ConfiguredLists {
  return {
    wrappedNative: chain.wrapped_native,
    nativeContracts: chain.native_contracts,
    unindexedErc20: chain.unindexed_erc20,
  };
}
