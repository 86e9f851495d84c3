/** GET /api/token_holders: the largest balances of a token, summed from its transfers. */
import { z } from 'zod';
import { prepareTopHoldings } from '../query/holders.ts';
import { prepareQualityName, prepareTokenFacts } from '../query/tokens.ts';
import { prepareWalletsById } from '../query/wallets.ts';
import { defineEndpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { addressField, countField, qualityField, unitsField } from './fields.ts';
import { address, limit } from './params.ts';
import { balanceText } from './values.ts';

export const tokenHolders = defineEndpoint({
  method: 'GET',
  path: '/api/token_holders',
  summary: 'The holders of a token with the largest balances, as its transfers leave them',
  params: { token: address(), limit: limit(50, 200) },
  response: {
    token: addressField(),
    holders: z.array(z.object({ address: addressField(), balance: unitsField() })),
    count: countField(),
    estimateQuality: qualityField(),
  },
  example: {
    params: { token: example.token, limit: '2' },
    response: {
      token: example.token,
      holders: [
        { address: example.other, balance: '2500000000' },
        { address: example.wallet, balance: '1000000' },
      ],
      count: 2,
      estimateQuality: 'exact',
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareTokenFacts(db);
    const qualityOf = prepareQualityName(db);
    const largest = prepareTopHoldings(db);
    const wallets = prepareWalletsById(db);
    return ({ token, limit }, { budget }) => {
      const facts = walletIds.withId(token, factsOf);
      const top = facts ? largest(facts, limit, budget) : [];
      const owners = wallets(top.map(({ wallet }) => wallet));
      const holders = owners.map(({ address }, i) => ({
        address: `0x${address}`,
        balance: balanceText(top[i]!.balance),
      }));
      const estimateQuality = facts ? qualityOf(facts.id) : null;
      return { token, holders, count: holders.length, estimateQuality };
    };
  },
});
