import type { Answers } from '../../client/answers.ts';

/** Props of each token tab. */
export interface TokenTabProps {
  stats: Answers['token_stats'];
  /** The supply according to the contract, in base units; null if it reports none. */
  supply: bigint | null;
}
