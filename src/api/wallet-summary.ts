/** GET /api/wallet_summary: what a wallet did in all. */
import { walletSummary as summaryOf } from '../query/wallets.ts';
import { endpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { address } from './params.ts';
import { summaryRecord, summarySchema } from './records.ts';

export const walletSummary = endpoint({
  method: 'GET',
  path: '/api/wallet_summary',
  summary: 'First and last activity, counts, native amounts and first funder of a wallet',
  params: { address: address() },
  response: summarySchema.shape,
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      firstSeenBlock: 120,
      lastSeenBlock: 4711,
      txCount: 42,
      uniqueTokens: 3,
      nativeReceived: '12.5',
      nativeReceivedWei: '12500000000000000000',
      nativeSent: '0.25',
      nativeSentWei: '250000000000000000',
      firstFundingSource: example.funder,
      lastActivity: example.time,
    },
  },
  prepare({ db, addresses }) {
    const summary = summaryOf(db);
    return ({ address }) => {
      const facts = addresses.ask(address, summary);
      return summaryRecord(address, facts, addresses.funderOf(facts));
    };
  },
});
