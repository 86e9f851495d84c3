/** GET /api/whale_transfers: large native transfers. */
import * as z from 'zod';
import { digitsToBigInt } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin6 } from '../../lib/units.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { prepareLargeNativeIds } from '../../query/whales.ts';
import { addressField, coin6Field, countField, nextCursorField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding, sourceOf } from '../fields.ts';
import { blockNumber, blockWindow, coinAmount, integer, limit, pageCursor } from '../params.ts';
import { fundingSchema, pageOf, uncertainMember } from '../transfer-record.ts';

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
        'Only transfers with a higher id, oldest first; ignores blocks. To poll, pass the last id and seen',
      ),
    after_block: blockNumber()
      .optional()
      .describe('Only transfers in this block or later, oldest first; ignores blocks'),
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
    return ({ min_mon, blocks, limit, after_id, after_block, cursor }, { head, budget }) => {
      const isPolled = after_id !== undefined || after_block !== undefined;
      const first = isPolled ? (after_block ?? head.startBlock) : head.number - blocks + 1;
      const { from, below } = idsOfBlocks(first, head.number);
      const last = cursor?.[0];
      const range = isPolled
        ? { from: Math.max(from, (last ?? after_id ?? 0) + 1), below }
        : { from, below: Math.min(below, last ?? below) };
      // One more shows whether there is a next page.
      const found = (isPolled ? oldestFirst : newestFirst)(min_mon.wei, range, limit + 1, budget);
      const { page, last: next } = pageOf(found, limit);
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
          ...uncertainMember(row),
        };
      });
      return {
        minMon: min_mon.coins,
        blocksWindow: blocks,
        transfers,
        nextCursor: next === undefined ? null : `${next}`,
        count: transfers.length,
      };
    };
  },
});
