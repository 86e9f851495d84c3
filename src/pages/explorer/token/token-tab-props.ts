import type { Answers } from '../../client/answers.ts';

/** What each tab of a token gets. */
export interface TokenTabProps {
  stats: Answers['token_stats'];
  /** What exists of it by its contract, in base units; null where that does not say. */
  supply: bigint | null;
}
