import type { WalletKnowledge } from './suspicion.ts';

/** Props of each wallet tab. */
export interface TabProps {
  address: string;
  /** The parameters in the page's URL. */
  params: URLSearchParams;
  /** Whom the wallet dealt with and what it holds; null while it loads. */
  known: WalletKnowledge | null;
}
