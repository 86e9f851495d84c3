/** GET /api/transaction_transfers: every transfer of a transaction, in chain order. */
import { z } from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareIndexedBlock, prepareTransferIdsOfTransaction } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { defineEndpoint } from '../endpoint.ts';
import { blockField, countField, example, nextCursorField, timeField, txHashField } from '../fields.ts';
import { requireIndexed } from '../node-reads.ts';
import { hash, limit, pageCursor } from '../params.ts';
import {
  examplePlainTransfer,
  pageOfRange,
  plainTransferRecord,
  plainTransferSchema,
} from '../transfer-record.ts';

export const transactionTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/transaction_transfers',
  tag: 'chain',
  list: 'transfers',
  summary: 'Every transfer of a transaction, internal native ones included, in chain order',
  params: {
    tx: hash().describe('Hash of the transaction; the node says which block it is in'),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    txHash: txHashField(),
    blockNumber: blockField(),
    blockHash: txHashField(),
    timestamp: timeField(),
    transfers: z.array(plainTransferSchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { tx: example.txHash, limit: '1' },
    response: {
      txHash: example.txHash,
      blockNumber: 4711,
      blockHash: example.blockHash,
      timestamp: example.time,
      transfers: [examplePlainTransfer],
      nextCursor: '90210',
      count: 1,
    },
  },
  askNode: ({ tx }, node) => node.blockOfTransaction(tx).then((transactionBlock) => ({ transactionBlock })),
  prepare({ db, nativeSymbol }) {
    const readBlock = prepareIndexedBlock(db);
    const idsOf = prepareTransferIdsOfTransaction(db);
    const readTransfers = prepareTransfersById(db);
    return ({ tx, limit, cursor }, { head, budget, nodeAnswer }) => {
      const block = requireIndexed(nodeAnswer?.transactionBlock, `transaction ${tx}`, head, readBlock);
      const { ids, nextCursor } = pageOfRange(idsOf(tx, block.transfers, budget), cursor?.[0], limit);
      return {
        txHash: tx,
        blockNumber: block.number,
        blockHash: block.hash,
        timestamp: secondsToIso(block.timestamp),
        transfers: readTransfers(ids).map((row) => plainTransferRecord(row, nativeSymbol)),
        nextCursor,
        count: ids.length,
      };
    };
  },
});
