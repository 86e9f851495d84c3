import type { IndexRules } from '../model/index-rules.ts';

/** The rules of an index, in the form that decoding asks. */
export interface DecodeRules {
  /** Whether the chain has Monad's system transactions and staking payouts. */
  monad: boolean;
  /** The version: what else counts. */
  version: number;
  /** Contracts as lower-case `0x` text. */
  wrappedNative: ReadonlySet<string>;
  nativeContracts: ReadonlySet<string>;
  unindexedErc20: ReadonlySet<string>;
}

export function decodeRules(rules: IndexRules): DecodeRules {
  return {
    version: rules.version,
    monad: rules.monad,
    wrappedNative: new Set(rules.wrappedNative),
    nativeContracts: new Set(rules.nativeContracts),
    unindexedErc20: new Set(rules.unindexedErc20),
  };
}
