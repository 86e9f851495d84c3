/**
 * GET /api/block_transfers and /api/transaction_transfers: every transfer of a block or a transaction, in chain order.
 */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import type { IndexedBlock } from '../../model/block.ts';
import { type IdRange, prepareIndexedBlock, prepareTransferIdsOfTransaction } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { blockField, countField, nextCursorField, timeField, txHashField } from '../../schemas/fields.ts';
import { plainTransferSchema } from '../../schemas/transfers.ts';
import type { Db } from '../../store/open-database.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { requireIndexed, requireReached } from '../node-reads.ts';
import { blockId, hash, limit, pageCursor } from '../params.ts';
import { examplePlainTransfer, pageOfRange, plainTransferRecord } from '../transfer-record.ts';

const pageFields = {
  blockNumber: blockField(),
  blockHash: txHashField(),
  timestamp: timeField(),
  transfers: z.array(plainTransferSchema),
  nextCursor: nextCursorField(),
  count: countField(),
};

const examplePage = {
  blockNumber: 4711,
  blockHash: example.blockHash,
  timestamp: example.time,
  transfers: [examplePlainTransfer],
  nextCursor: '90210',
  count: 1,
};

/** A page of a range of transfers within one block. */
function preparePage(db: Db, nativeSymbol: string) {
  const readTransfers = prepareTransfersById(db);
  return (block: IndexedBlock, range: IdRange, after: number | undefined, limit: number) => {
    const { ids, nextCursor } = pageOfRange(range, after, limit);
    return {
      blockNumber: block.number,
      blockHash: block.hash,
      timestamp: secondsToIso(block.timestamp),
      transfers: readTransfers(ids).map((row) => plainTransferRecord(row, nativeSymbol)),
      nextCursor,
      count: ids.length,
    };
  };
}

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
  response: pageFields,
  example: { params: { block: '4711', limit: '1' }, response: examplePage },
  askNode({ block }, node) {
    if (typeof block === 'number') return undefined;
    return node.blockByHash(block).then((found) => ({ block: found }));
  },
  prepare({ db, nativeSymbol }) {
    const readBlock = prepareIndexedBlock(db);
    const readPage = preparePage(db, nativeSymbol);
    return ({ block: id, limit, cursor }, { head, nodeAnswer }) => {
      const block =
        typeof id === 'number'
          ? requireReached(id, head, readBlock)
          : requireIndexed(nodeAnswer?.block, `block ${id}`, head, readBlock);
      return readPage(block, block.transfers, cursor?.[0], limit);
    };
  },
});

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
  response: { txHash: txHashField(), ...pageFields },
  example: {
    params: { tx: example.txHash, limit: '1' },
    response: { txHash: example.txHash, ...examplePage },
  },
  askNode: ({ tx }, node) => node.blockOfTransaction(tx).then((transactionBlock) => ({ transactionBlock })),
  prepare({ db, nativeSymbol }) {
    const readBlock = prepareIndexedBlock(db);
    const idsOf = prepareTransferIdsOfTransaction(db);
    const readPage = preparePage(db, nativeSymbol);
    return ({ tx, limit, cursor }, { head, budget, nodeAnswer }) => {
      const block = requireIndexed(nodeAnswer?.transactionBlock, `transaction ${tx}`, head, readBlock);
      return {
        txHash: tx,
        ...readPage(block, idsOf(tx, block.transfers, budget), cursor?.[0], limit),
      };
    };
  },
});
