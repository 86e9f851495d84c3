/** GET /api/token_holders: the largest balances of a token, summed from its transfers. */
import { z } from 'zod';
import { prepareTopHoldings } from '../../query/holders.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  addressField,
  balanceAccuracyField,
  balanceText,
  countField,
  example,
  unitsField,
} from '../fields.ts';
import { address, limit } from '../params.ts';

const holderSchema = z.object({ address: addressField(), balance: unitsField() }).meta({ id: 'TokenHolder' });

export const tokenHolders = defineEndpoint({
  method: 'GET',
  path: '/api/token_holders',
  tag: 'tokens',
  list: 'holders',
  summary: 'The largest holders of a token, with balances computed from its transfers',
  params: { token: address(), limit: limit(50, 200) },
  response: {
    token: addressField(),
    symbol: z.string().nullable().describe('Null while unknown'),
    decimals: z.int().nullable().describe('Decimals of all balances; null while unknown'),
    holders: z.array(holderSchema),
    count: countField(),
    estimateQuality: balanceAccuracyField(),
  },
  example: {
    params: { token: example.token, limit: '2' },
    response: {
      token: example.token,
      symbol: 'EXD',
      decimals: 6,
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
    const accuracyOf = prepareBalanceAccuracyName(db);
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
      const estimateQuality = facts ? accuracyOf(facts.id) : null;
      return {
        token,
        symbol: facts?.symbol ?? null,
        decimals: facts?.decimals ?? null,
        holders,
        count: holders.length,
        estimateQuality,
      };
    };
  },
});
