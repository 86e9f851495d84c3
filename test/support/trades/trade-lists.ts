/** The lists of `[trades]` in tests: contracts and a wallet of the random chain. */
import { randomToken, randomWallet } from '../chain/random-chain.ts';

export const TRADE_LISTS = {
  nativeEquivalents: [randomToken(1)],
  quoteTokens: [randomToken(2), randomToken(3)],
  feeSinks: [randomWallet(2)],
};
