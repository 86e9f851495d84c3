/** GET /api/balance_history: a wallet's balance of a token, or of the native coin, over time. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import { NATIVE } from '../../model/wallet-part.ts';
import { prepareBalanceHistory } from '../../query/balance-history.ts';
import { prepareBlocksInTime } from '../../query/block-times.ts';
import {
  prepareBlockNumbers,
  prepareBlocksOfTransfers,
  prepareTransferIdsOfBlocks,
} from '../../query/blocks.ts';
import { MAX_HISTORY_ROWS } from '../../query/reach.ts';
import { prepareTokenFacts, prepareTokenIdByWallet } from '../../query/tokens.ts';
import { addressField, blockField, countField, timeField } from '../../schemas/fields.ts';
import { thinned } from '../curve.ts';
import { defineEndpoint } from '../endpoint.ts';
import { EXAMPLE_COIN, example } from '../fields.ts';
import { address, asset, integer, timeFilter } from '../params.ts';
import { assetAddressField, assetDecimalsField, prepareAssetDisplays } from '../trade-record.ts';

function balanceField(what: string) {
  return z
    .string()
    .regex(/^-?\d+$/)
    .describe(
      `${what}, by its transfers, in base units; below zero where earlier transfers are not indexed. That ` +
        'of the native coin leaves out transaction fees',
    );
}

const pointSchema = z
  .object({
    blockNumber: blockField(),
    timestamp: timeField(),
    balance: balanceField('Balance after the block'),
  })
  .meta({ id: 'BalancePoint' });

export const balanceHistory = defineEndpoint({
  method: 'GET',
  path: '/api/balance_history',
  tag: 'wallets',
  list: 'series',
  summary:
    "A wallet's balance of a token, or of the native coin, after each block that changed it, oldest first",
  params: {
    address: address(),
    token: asset().prefault('native').describe('The address of a token, or native'),
    ...timeFilter('balances'),
    points: integer(1, 500).default(100).describe('Most points, at even distances, with the last one'),
  },
  response: {
    address: addressField(),
    tokenAddress: assetAddressField(),
    symbol: z.string().nullable(),
    decimals: assetDecimalsField(),
    series: z.array(pointSchema),
    before: balanceField('Balance before the first block that was read'),
    truncated: z
      .boolean()
      .describe(
        `Whether the balance changed before what is read: the ${MAX_HISTORY_ROWS} newest transfers of the wallet, ` +
          'or of a token its newest with the wallet, and fewer where they are far apart in the chain',
      ),
    fromBlock: blockField().nullable().describe('Where truncated: the first block that was read; else null'),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, points: '1' },
    response: {
      address: example.wallet,
      tokenAddress: null,
      symbol: EXAMPLE_COIN,
      decimals: 18,
      series: [{ blockNumber: 4711, timestamp: example.time, balance: '1500000000000000000' }],
      before: '0',
      truncated: false,
      fromBlock: null,
      count: 1,
    },
  },
  prepare({ db, walletIds, nativeSymbol }) {
    const tokenOf = prepareTokenIdByWallet(db);
    const factsOf = prepareTokenFacts(db);
    const historyOf = prepareBalanceHistory(db);
    const displays = prepareAssetDisplays(db, nativeSymbol);
    const blocksInTime = prepareBlocksInTime(db);
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const blocksOf = prepareBlocksOfTransfers(db);
    const blockNumbersOf = prepareBlockNumbers(db);
    return (params, { head, budget }) => {
      const { address, token: contract, points: limit } = params;
      const wallet = walletIds.idOf(address);
      const token = contract === null ? NATIVE : walletIds.withId(contract, tokenOf);
      const facts = contract === null ? undefined : walletIds.withId(contract, factsOf);
      const shown =
        token === undefined
          ? { tokenAddress: contract, symbol: null, decimals: null }
          : displays([token])(token, facts !== undefined && movesOne(facts.kind));
      const { first, last } = blocksInTime(head, params);
      const { points, before, readFrom } =
        wallet === undefined || token === undefined
          ? NOTHING
          : historyOf(wallet, token, idsOfBlocks(first, last), budget);
      const numbers = blockNumbersOf(points.map(({ transfer }) => transfer));
      const changes: { transfer: number; blockNumber: number; balance: bigint }[] = [];
      let earlier = before;
      for (const [i, { transfer, balance }] of points.entries()) {
        // Of a block the last point, unless the block took back its change.
        if (numbers[i] === numbers[i + 1] || balance === earlier) continue;
        changes.push({ transfer, blockNumber: numbers[i]!, balance });
        earlier = balance;
      }
      const thin = thinned(changes, limit);
      const blocks = blocksOf(thin.map(({ transfer }) => transfer));
      const series = thin.map(({ blockNumber, balance }, i) => ({
        blockNumber,
        timestamp: secondsToIso(blocks[i]!.timestamp),
        balance: `${balance}`,
      }));
      return {
        address,
        ...shown,
        series,
        before: `${before}`,
        truncated: readFrom !== null,
        fromBlock: readFrom === null ? null : blocksOf([readFrom])[0]!.number,
        count: series.length,
      };
    };
  },
});

const NOTHING = { points: [], before: 0n, readFrom: null };
