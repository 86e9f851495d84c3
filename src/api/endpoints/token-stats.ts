import { secondsToIso } from '../../lib/time.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import {
  addressField,
  blockField,
  countField,
  timeField,
  tokenNameFields,
  tokenTypeField,
} from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { balanceAccuracyField, example, tokenType } from '../fields.ts';
import { address } from '../params.ts';

export const tokenStats = defineEndpoint({
  method: 'GET',
  path: '/api/token_stats',
  tag: 'tokens',
  summary: 'Transfer, holder and wallet counts of a token, with its name, symbol, decimals and type',
  params: { token: address() },
  response: {
    token: addressField(),
    ...tokenNameFields(),
    type: tokenTypeField().nullable().describe('Derived from its transfers; null if there are none'),
    transferCount: countField(),
    holderCount: countField().describe('Addresses with a balance above zero'),
    uniqueWallets: countField().describe('Distinct addresses in its transfers, excluding the zero address'),
    firstSeenBlock: blockField().nullable(),
    firstSeenAt: timeField().nullable(),
    estimateQuality: balanceAccuracyField(),
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
    const accuracyOf = prepareBalanceAccuracyName(db);
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
        estimateQuality: facts ? accuracyOf(facts.id) : null,
      };
    };
  },
});
