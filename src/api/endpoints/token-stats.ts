import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareTopHoldings } from '../../query/holdings.ts';
import { prepareMinted } from '../../query/minted.ts';
import { MOST_HOLDERS, prepareConcentration, prepareSupply } from '../../query/supply.ts';
import { prepareBalanceAccuracyName, prepareTokenFacts } from '../../query/tokens.ts';
import {
  addressField,
  blockField,
  countField,
  shareField,
  timeField,
  tokenNameFields,
  tokenTypeField,
  unitsField,
} from '../../schemas/fields.ts';
import { LARGE_TOKEN_WALLETS } from '../../store/tokens/holding-peaks.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  balanceAccuracy,
  balanceAccuracyField,
  balanceReasonField,
  example,
  sumsReason,
  tokenType,
} from '../fields.ts';
import { address, addressList } from '../params.ts';

/** Most addresses in `exclude`. */
const MOST_EXCLUDED = 20;

export const tokenStats = defineEndpoint({
  method: 'GET',
  path: '/api/token_stats',
  tag: 'tokens',
  summary: 'Transfer, holder and wallet counts of a token, with its name, symbol, decimals and type',
  params: {
    token: address(),
    exclude: addressList(MOST_EXCLUDED)
      .optional()
      .describe('Addresses to leave out of the concentration, such as pools or a burn address'),
  },
  response: {
    token: addressField(),
    ...tokenNameFields(),
    type: tokenTypeField()
      .nullable()
      .describe('Derived from its transfers and its contract; null if there are no transfers'),
    transferCount: countField(),
    holderCount: countField().describe('Addresses with a balance above zero'),
    uniqueWallets: countField().describe('Distinct addresses in its transfers, excluding the zero address'),
    supply: unitsField()
      .nullable()
      .describe(
        'Minted and not burned, by its transfers from and to the zero address; null if not above zero, as ' +
          'where the first holders got it before the index began or without a transfer',
      ),
    minted: unitsField()
      .nullable()
      .describe('Sum of its transfers from the zero address, in base units; null where truncated'),
    burned: unitsField()
      .nullable()
      .describe('Sum of its transfers to the zero address, in base units; null where truncated'),
    truncated: z
      .boolean()
      .describe(
        'Whether minted and burned are unknown, because an index of an earlier release has not summed ' +
          'them up to its head yet',
      ),
    concentration: z
      .object({
        top1: shareField(),
        top10: shareField(),
        top50: shareField(),
        top100: shareField(),
        holdersForHalf: countField()
          .nullable()
          .describe(
            'The fewest holders that have half of it; null where a token with more than ' +
              `${LARGE_TOKEN_WALLETS} addresses needs more than ${MOST_HOLDERS}`,
          ),
      })
      .nullable()
      .describe(
        'Shares of the largest holders in what all holders have, without the zero address and `exclude`; ' +
          'contracts count. Null where the supply is unknown or less than what they have',
      ),
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
      supply: '4000000000',
      minted: '4500000000',
      burned: '500000000',
      truncated: false,
      concentration: { top1: 0.625, top10: 0.9, top50: 0.98, top100: 0.99, holdersForHalf: 1 },
      firstSeenBlock: 120,
      firstSeenAt: example.time,
      estimateQuality: 'exact',
      estimateReason: null,
    },
  },
  prepare({ db, walletIds }) {
    const factsOf = prepareTokenFacts(db);
    const accuracyOf = prepareBalanceAccuracyName(db);
    const supplyOf = prepareSupply(db);
    const mintedOf = prepareMinted(db);
    const concentrationOf = prepareConcentration(db, prepareTopHoldings(db));
    return ({ token, exclude = [] }, { head, budget }) => {
      const facts = walletIds.withId(token, factsOf);
      const supply = facts ? supplyOf(facts.id) : null;
      const sums = facts ? mintedOf(facts.id, head) : null;
      const excluded = new Set(exclude.flatMap((address) => walletIds.withId(address, (id) => id) ?? []));
      return {
        token,
        name: facts?.name ?? null,
        symbol: facts?.symbol ?? null,
        decimals: facts?.decimals ?? null,
        type: facts ? tokenType(facts) : null,
        transferCount: facts?.transfers ?? 0,
        holderCount: facts?.holders ?? 0,
        uniqueWallets: facts?.wallets ?? 0,
        supply: supply?.toString() ?? null,
        minted: sums?.minted.toString() ?? null,
        burned: sums?.burned.toString() ?? null,
        truncated: facts !== undefined && sums === null,
        concentration: facts ? concentrationOf(facts, supply, excluded, budget) : null,
        firstSeenBlock: facts?.firstBlock ?? null,
        firstSeenAt: facts ? secondsToIso(facts.firstTimestamp) : null,
        estimateQuality: facts ? balanceAccuracy(facts, accuracyOf(facts.id)) : null,
        estimateReason: facts ? sumsReason(facts) : null,
      };
    };
  },
});
