/** GET /api/recent_token_transfers_out: token transfers a wallet recently sent. */
import * as z from 'zod';
import { kindBits } from '../../model/transfer-kind.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareTransfersById, type TransferRow } from '../../query/transfers.ts';
import { prepareHistoryIds } from '../../query/wallet-history-ids.ts';
import { addressField, countField, nextCursorField } from '../../schemas/fields.ts';
import { transferSchema } from '../../schemas/transfers.ts';
import { HistoryFlag } from '../../store/wallet-history.ts';
import { defineEndpoint } from '../endpoint.ts';
import { EXAMPLE_COIN, example, sampleTokenTransfer } from '../fields.ts';
import { address, blockWindow, limit, pageCursor } from '../params.ts';
import { pageOf, plainTransferRecord } from '../transfer-record.ts';

const TOKEN_KINDS = kindBits(({ isNative }) => !isNative);

const sentTransferSchema = transferSchema.omit({ from: true, direction: true }).meta({ id: 'SentTransfer' });

function sentRecord(row: TransferRow, nativeSymbol: string): z.output<typeof sentTransferSchema> {
  const { from: _, ...sent } = plainTransferRecord(row, nativeSymbol);
  return sent;
}

export const recentTokenTransfersOut = defineEndpoint({
  method: 'GET',
  path: '/api/recent_token_transfers_out',
  tag: 'wallets',
  list: 'transfers',
  summary: 'Token transfers a wallet sent within a block window, newest first',
  params: {
    address: address(),
    blocks: blockWindow(),
    limit: limit(50, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    address: addressField(),
    blocksWindow: countField(),
    transfers: z.array(sentTransferSchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, limit: '1' },
    response: {
      address: example.wallet,
      blocksWindow: 10000,
      transfers: [sentRecord(sampleTokenTransfer, EXAMPLE_COIN)],
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db, walletIds, nativeSymbol }) {
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const listIds = prepareHistoryIds(db);
    const readTransfers = prepareTransfersById(db);
    return ({ address, blocks, limit, cursor }, { head, budget }) => {
      const wallet = walletIds.idOf(address);
      const range = idsOfBlocks(head.number - blocks + 1, head.number);
      const sentTokens = {
        from: range.from,
        below: Math.min(range.below, cursor?.[0] ?? range.below),
        direction: HistoryFlag.out,
        kinds: TOKEN_KINDS,
        limit: limit + 1, // one more shows whether there is a next page
      };
      const { ids, resumeBelow } =
        wallet === undefined ? { ids: [], resumeBelow: null } : listIds(wallet, sentTokens, budget);
      const { page, last } = pageOf(ids, limit);
      const next = last ?? resumeBelow;
      const transfers = readTransfers(page).map((row) => sentRecord(row, nativeSymbol));
      const nextCursor = next === null ? null : `${next}`;
      return { address, blocksWindow: blocks, transfers, nextCursor, count: transfers.length };
    };
  },
});
