/** GET /api/token_holders: the largest balances of a token, summed from its transfers. */
import { z } from 'zod';
import { encodeSigned } from '../../lib/signed.ts';
import { prepareTopHoldings } from '../../query/holdings.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import { addressField, countField, nextCursorField, unitsField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  balanceAccuracy,
  balanceAccuracyField,
  balanceReasonField,
  balanceText,
  example,
  sumsReason,
} from '../fields.ts';
import { address, amountCursor, limit } from '../params.ts';
import { pageOf } from '../transfer-record.ts';

const holderSchema = z.object({ address: addressField(), balance: unitsField() }).meta({ id: 'TokenHolder' });

export const tokenHolders = defineEndpoint({
  method: 'GET',
  path: '/api/token_holders',
  tag: 'tokens',
  list: 'holders',
  summary: 'The largest holders of a token, with balances computed from its transfers',
  params: { token: address(), limit: limit(50, 200), cursor: amountCursor().optional() },
  response: {
    token: addressField(),
    symbol: z.string().nullable().describe('Null while unknown'),
    decimals: z.int().nullable().describe('Decimals of all balances; null while unknown'),
    holders: z.array(holderSchema),
    nextCursor: nextCursorField(),
    count: countField(),
    estimateQuality: balanceAccuracyField(),
    estimateReason: balanceReasonField(),
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
      nextCursor: '1000000.90210',
      count: 2,
      estimateQuality: 'exact',
      estimateReason: null,
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareTokenFacts(db);
    const accuracyOf = prepareBalanceAccuracyName(db);
    const largest = prepareTopHoldings(db);
    const wallets = prepareWalletsById(db);
    return ({ token, limit, cursor }, { budget }) => {
      const facts = walletIds.withId(token, factsOf);
      const after = cursor && { balance: Buffer.from(encodeSigned(cursor.amount)), wallet: cursor.id };
      const found = facts ? largest(facts, limit + 1, budget, after) : []; // one more shows whether there is a next page
      const { page: top, last } = pageOf(found, limit);
      const owners = wallets(top.map(({ wallet }) => wallet));
      const holders = owners.map(({ address }, i) => ({
        address: `0x${address}`,
        balance: balanceText(top[i]!.balance),
      }));
      const estimateQuality = facts ? balanceAccuracy(facts, accuracyOf(facts.id)) : null;
      return {
        token,
        symbol: facts?.symbol ?? null,
        decimals: facts?.decimals ?? null,
        holders,
        nextCursor: last === undefined ? null : `${balanceText(last.balance)}.${last.wallet}`,
        count: holders.length,
        estimateQuality,
        estimateReason: facts ? sumsReason(facts) : null,
      };
    };
  },
});
