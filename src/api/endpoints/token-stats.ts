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
import {
  balanceAccuracy,
  balanceAccuracyField,
  balanceReasonField,
  example,
  sumsReason,
  tokenType,
} from '../fields.ts';
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
    type: tokenTypeField()
      .nullable()
      .describe('Derived from its transfers and its contract; null if there are no transfers'),
    transferCount: countField(),
    holderCount: countField().describe('Addresses with a balance above zero'),
    uniqueWallets: countField().describe('Distinct addresses in its transfers, excluding the zero address'),
    firstSeenBlock: blockField().nullable(),
    firstSeenAt: timeField().nullable(),
    estimateQuality: balanceAccuracyField(),
    estimateReason: balanceReasonField(),
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
      estimateReason: null,
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
        type: facts ? tokenType(facts) : null,
        transferCount: facts?.transfers ?? 0,
        holderCount: facts?.holders ?? 0,
        uniqueWallets: facts?.wallets ?? 0,
        firstSeenBlock: facts?.firstBlock ?? null,
        firstSeenAt: facts ? secondsToIso(facts.firstTimestamp) : null,
        estimateQuality: facts ? balanceAccuracy(facts, accuracyOf(facts.id)) : null,
        estimateReason: facts ? sumsReason(facts) : null,
      };
    };
  },
});
