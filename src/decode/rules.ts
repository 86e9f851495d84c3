import type { IndexRules } from '../model/index-rules.ts';
import type { LogProof } from './bloom.ts';
import type { Tolerance } from './tolerance.ts';

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
  /** Contradictions to put up with; none unless given. */
  tolerance?: Tolerance;
  /** Whether the whole chain counts time in milliseconds (block-time.ts). */
  milliseconds?: boolean;
  /** What the blooms of the block prove, if all of them were read. */
  logProof?: LogProof;
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
