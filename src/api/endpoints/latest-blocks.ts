/** GET /api/latest_blocks: the newest indexed blocks, and how much each moved. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareBlockActivity } from '../../query/blocks.ts';
import { blockField, countField, nextCursorField, timeField, txHashField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { limit, pageCursor } from '../params.ts';
import { pageOf } from '../transfer-record.ts';

const blockSchema = z
  .object({
    blockNumber: blockField(),
    blockHash: txHashField(),
    timestamp: timeField(),
    transactionCount: countField().describe('Transactions with at least one transfer'),
    transferCount: countField().describe('All transfers, internal ones and those of nothing included'),
  })
  .meta({ id: 'LatestBlock' });

export const latestBlocks = defineEndpoint({
  method: 'GET',
  path: '/api/latest_blocks',
  tag: 'chain',
  list: 'blocks',
  summary: 'The newest indexed blocks with their numbers of transactions and transfers, newest first',
  params: { limit: limit(50, 200), cursor: pageCursor(1).optional() },
  response: { blocks: z.array(blockSchema), nextCursor: nextCursorField(), count: countField() },
  example: {
    params: { limit: '1' },
    response: {
      blocks: [
        {
          blockNumber: 4711,
          blockHash: example.blockHash,
          timestamp: example.time,
          transactionCount: 21,
          transferCount: 34,
        },
      ],
      nextCursor: '4711',
      count: 1,
    },
  },
  prepare({ db }) {
    const blocksBelow = prepareBlockActivity(db);
    return ({ limit, cursor }, { head }) => {
      // One more shows whether there is a next page.
      const found = blocksBelow(cursor?.[0] ?? head.number + 1, limit + 1);
      const { page, last: next } = pageOf(found, limit);
      const blocks = page.map(({ number, hash, timestamp, transactions, transfers }) => ({
        blockNumber: number,
        blockHash: hash,
        timestamp: secondsToIso(timestamp),
        transactionCount: transactions,
        transferCount: transfers,
      }));
      return { blocks, nextCursor: next === undefined ? null : `${next.number}`, count: blocks.length };
    };
  },
});
