/** GET /api/block_transfers: every transfer of a block, in chain order. */
import { z } from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareIndexedBlock } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { defineEndpoint } from '../endpoint.ts';
import { blockField, countField, example, nextCursorField, timeField, txHashField } from '../fields.ts';
import { requireIndexed, requireReached } from '../node-reads.ts';
import { blockId, limit, pageCursor } from '../params.ts';
import {
  examplePlainTransfer,
  pageOfRange,
  plainTransferRecord,
  plainTransferSchema,
} from '../transfer-record.ts';

export const blockTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/block_transfers',
  tag: 'chain',
  list: 'transfers',
  summary: 'Every transfer of a block, internal native ones included, in chain order',
  params: {
    block: blockId().describe('Number of the block in decimal digits, or its hash'),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    blockNumber: blockField(),
    blockHash: txHashField(),
    timestamp: timeField(),
    transfers: z.array(plainTransferSchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { block: '4711', limit: '1' },
    response: {
      blockNumber: 4711,
      blockHash: example.blockHash,
      timestamp: example.time,
      transfers: [examplePlainTransfer],
      nextCursor: '90210',
      count: 1,
    },
  },
  askNode({ block }, node) {
    if (typeof block === 'number') return undefined;
    return node.blockByHash(block).then((found) => ({ block: found }));
  },
  prepare({ db, nativeSymbol }) {
    const readBlock = prepareIndexedBlock(db);
    const readTransfers = prepareTransfersById(db);
    return ({ block, limit, cursor }, { head, nodeAnswer }) => {
      const { number, hash, timestamp, transfers } =
        typeof block === 'number'
          ? requireReached(block, head, readBlock)
          : requireIndexed(nodeAnswer?.block, `block ${block}`, head, readBlock);
      const { ids, nextCursor } = pageOfRange(transfers, cursor?.[0], limit);
      return {
        blockNumber: number,
        blockHash: hash,
        timestamp: secondsToIso(timestamp),
        transfers: readTransfers(ids).map((row) => plainTransferRecord(row, nativeSymbol)),
        nextCursor,
        count: ids.length,
      };
    };
  },
});
