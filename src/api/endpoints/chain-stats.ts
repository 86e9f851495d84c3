/** GET /api/chain_stats: the head, the growth of the chain, and the most active tokens and wallets. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareChainRates } from '../../query/block-times.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareRecentActivity } from '../../query/recent-activity.ts';
import { prepareTokensById } from '../../query/tokens.ts';
import {
  addressField,
  blockField,
  countField,
  timeField,
  tokenNameFields,
  tokenTypeField,
} from '../../schemas/fields.ts';
import { databaseBytes } from '../../store/index-stats.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, tokenType } from '../fields.ts';
import { integer } from '../params.ts';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Length of `topTokens` and `topWallets`. */
const TOP = 10;

const ratesSchema = z
  .object({
    transfers: z.number().min(0),
    transactions: z.number().min(0).describe('Transactions with at least one transfer'),
    newWallets: z.number().min(0).describe('Addresses seen for the first time'),
  })
  .meta({ id: 'ChainRates' });

const activeTokenSchema = z
  .object({
    tokenAddress: addressField(),
    ...tokenNameFields(),
    type: tokenTypeField(),
    transferCount: countField(),
  })
  .meta({ id: 'ActiveToken' });

const activeWalletSchema = z
  .object({ address: addressField(), transferCount: countField() })
  .meta({ id: 'ActiveWallet' });

export const chainStats = defineEndpoint({
  method: 'GET',
  path: '/api/chain_stats',
  tag: 'chain',
  summary:
    'The head, the size of the index, transfers, transactions and new wallets per minute, and the most ' +
    'active tokens and wallets',
  params: {
    blocks: integer(1, 1_000)
      .default(100)
      .describe('Number of blocks covered by topTokens and topWallets, counted back from the head'),
  },
  response: {
    head: blockField(),
    headTimestamp: timeField(),
    headAgeSeconds: countField().describe('Age of the head at the time of the answer'),
    indexBytes: countField().describe('Size of the index, including what is only in its WAL'),
    perMinute: z
      .object({ hour: ratesSchema, day: ratesSchema })
      .describe("Averages over the hour and the day before the head's timestamp, as far as indexed"),
    blocksWindow: countField(),
    topTokens: z.array(activeTokenSchema).describe(`The ${TOP} tokens with most transfers in the window`),
    topWallets: z
      .array(activeWalletSchema)
      .describe(`The ${TOP} wallets with most transfers in the window, without the zero address`),
  },
  example: {
    params: { blocks: '100' },
    response: {
      head: 4711,
      headTimestamp: example.time,
      headAgeSeconds: 1,
      indexBytes: 1_288_490_188,
      perMinute: {
        hour: { transfers: 1250.5, transactions: 420.25, newWallets: 12 },
        day: { transfers: 1100, transactions: 400.5, newWallets: 15.75 },
      },
      blocksWindow: 100,
      topTokens: [
        {
          tokenAddress: example.token,
          name: 'Example Dollar',
          symbol: 'EXD',
          decimals: 6,
          type: 'erc20',
          transferCount: 120,
        },
      ],
      topWallets: [{ address: example.other, transferCount: 80 }],
    },
  },
  prepare({ db, walletIds }) {
    const ratesOver = prepareChainRates(db);
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const activityIn = prepareRecentActivity(db);
    const tokens = prepareTokensById(db);
    return ({ blocks }, { head, budget }) => {
      const active = activityIn(idsOfBlocks(head.number - blocks + 1, head.number), TOP, budget);
      return {
        head: head.number,
        headTimestamp: secondsToIso(head.timestamp),
        headAgeSeconds: Math.max(0, Math.floor(Date.now() / 1000) - head.timestamp),
        indexBytes: databaseBytes(db),
        perMinute: { hour: ratesOver(head, HOUR_SECONDS), day: ratesOver(head, DAY_SECONDS) },
        blocksWindow: blocks,
        topTokens: tokens(active.tokens.map(({ id }) => id)).map((token, i) => ({
          tokenAddress: `0x${token.address}`,
          name: token.name,
          symbol: token.symbol,
          decimals: token.decimals,
          type: tokenType(token),
          transferCount: active.tokens[i]!.count,
        })),
        topWallets: active.wallets.map(({ id, count }) => ({
          address: walletIds.addressOf(id),
          transferCount: count,
        })),
      };
    };
  },
});
