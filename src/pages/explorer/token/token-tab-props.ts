import type { Answers } from '../../client/answers.ts';

/** Props of each token tab. */
export interface TokenTabProps {
  stats: Answers['token_stats'];
  /** Of the URL. */
  params: URLSearchParams;
}
