/** GET /api/token_stats: totals of a token's transfers, and its contract's metadata. */
import { z } from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { prepareQualityName, prepareTokenFacts } from '../query/tokens.ts';
import { defineEndpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { addressField, blockField, countField, qualityField, timeField, tokenTypeField } from './fields.ts';
import { address } from './params.ts';
import { tokenType } from './values.ts';

export const tokenStats = defineEndpoint({
  method: 'GET',
  path: '/api/token_stats',
  summary: 'Transfers, holders and wallets of a token, and its name, symbol, decimals and type',
  params: { token: address() },
  response: {
    token: addressField(),
    name: z.string().nullable().describe('Null while unknown, as are symbol and decimals'),
    symbol: z.string().nullable(),
    decimals: z.int().nullable(),
    type: tokenTypeField().nullable().describe('Told from its transfers; null without any'),
    transferCount: countField(),
    holderCount: countField().describe('Addresses with a balance above zero'),
    uniqueWallets: countField().describe('Distinct addresses in its transfers, the zero address left out'),
    firstSeenBlock: blockField().nullable(),
    firstSeenAt: timeField().nullable(),
    estimateQuality: qualityField(),
  },
  example: {
    params: { token: example.token },
    response: {
      token: example.token,
      name: 'Example Dollar',
      symbol: 'EXD',
      decimals: 6,
      type: 'erc20',
      transferCount: 90210,
      holderCount: 1200,
      uniqueWallets: 3400,
      firstSeenBlock: 120,
      firstSeenAt: example.time,
      estimateQuality: 'exact',
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareTokenFacts(db);
    const qualityOf = prepareQualityName(db);
    return ({ token }) => {
      const facts = walletIds.withId(token, factsOf);
      return {
        token,
        name: facts?.name ?? null,
        symbol: facts?.symbol ?? null,
        decimals: facts?.decimals ?? null,
        type: facts ? tokenType(facts.kind) : null,
        transferCount: facts?.transfers ?? 0,
        holderCount: facts?.holders ?? 0,
        uniqueWallets: facts?.wallets ?? 0,
        firstSeenBlock: facts?.firstBlock ?? null,
        firstSeenAt: facts ? secondsToIso(facts.firstTimestamp) : null,
        estimateQuality: facts ? qualityOf(facts.id) : null,
      };
    };
  },
});
