/** GET /api/whale_transfers: large native transfers. */
import { z } from 'zod';
import { digitsToBigInt } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin6 } from '../../lib/units.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { prepareLargeNativeIds } from '../../query/whales.ts';
import { addressField, coin6Field, countField, nextCursorField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding, sourceOf } from '../fields.ts';
import { blockWindow, coinAmount, integer, limit, pageCursor } from '../params.ts';
import { fundingSchema, pageOf } from '../transfer-record.ts';

const whaleSchema = fundingSchema
  .extend({
    id: z
      .int()
      .describe('Position in the index, for after_id; after a reorg another transfer may get the same id'),
    to: addressField(),
    amount: coin6Field(),
    transferType: z.literal('native'),
  })
  .meta({ id: 'WhaleTransfer' });

export const whaleTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/whale_transfers',
  tag: 'chain',
  list: 'transfers',
  summary: 'Native transfers, direct and internal, of at least a given amount, newest first',
  params: {
    min_mon: coinAmount().prefault('100').describe('Minimum amount in whole coins, as a decimal number'),
    blocks: blockWindow(),
    limit: limit(50, 200),
    after_id: integer(0, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe(
        'Only transfers with a higher id, oldest first; ignores blocks. To poll, pass the last id seen',
      ),
    cursor: pageCursor(1).optional(),
  },
  response: {
    minMon: z.number().min(0).describe('min_mon of the request, in whole coins'),
    blocksWindow: countField(),
    transfers: z.array(whaleSchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { min_mon: '1000.5', limit: '1' },
    response: {
      minMon: 1000.5,
      blocksWindow: 10000,
      transfers: [
        {
          id: 90210,
          from: example.funder,
          to: example.wallet,
          ...exampleFunding,
          amount: '1500.000000',
          amountWei: '1500000000000000000000',
          transferType: 'native',
        },
      ],
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db }) {
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const { ASC: oldestFirst, DESC: newestFirst } = prepareLargeNativeIds(db);
    const readTransfers = prepareTransfersById(db);
    return ({ min_mon, blocks, limit, after_id, cursor }, { head, budget }) => {
      const window = idsOfBlocks(head.number - blocks + 1, head.number);
      const before = cursor?.[0];
      const found =
        after_id === undefined
          ? newestFirst(
              min_mon.wei,
              { ...window, below: Math.min(window.below, before ?? window.below) },
              limit + 1, // one more shows whether there is a next page
              budget,
            )
          : oldestFirst(min_mon.wei, { ...window, from: (before ?? after_id) + 1 }, limit + 1, budget);
      const { page, last } = pageOf(found, limit);
      const transfers = readTransfers(page).map((row) => {
        const wei = digitsToBigInt(row.amount);
        return {
          id: row.id,
          from: `0x${row.from}`,
          to: `0x${row.to}`,
          amount: weiToCoin6(wei),
          amountWei: wei.toString(),
          txHash: `0x${row.txHash}`,
          eventIndex: row.eventIndex,
          blockNumber: row.blockNumber,
          blockHash: `0x${row.blockHash}`,
          timestamp: secondsToIso(row.timestamp),
          transferType: 'native' as const,
          source: sourceOf(row.kind),
        };
      });
      return {
        minMon: min_mon.coins,
        blocksWindow: blocks,
        transfers,
        nextCursor: last === undefined ? null : `${last}`,
        count: transfers.length,
      };
    };
  },
});
