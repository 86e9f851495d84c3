/** GET /api/address_transfers: all transfers of a wallet, newest first, paginated. */
import { z } from 'zod';
import { TRANSFER_KIND_NAMES, TransferKind } from '../../model/transfer-kind.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { prepareHistoryIds } from '../../query/wallet-history-pages.ts';
import { HistoryFlag } from '../../store/wallet-history.ts';
import { defineEndpoint } from '../endpoint.ts';
import { addressField, countField, example } from '../fields.ts';
import { address, blockNumber, choice, cursor, flag, limit } from '../params.ts';
import { examplePlainTransfer, transferRecord, transferSchema } from '../transfer-record.ts';

const DIRECTION_FLAGS = {
  in: HistoryFlag.in,
  out: HistoryFlag.out,
  both: HistoryFlag.in | HistoryFlag.out,
} as const;

/** One bit per kind. */
const ALL_KINDS = (1 << TRANSFER_KIND_NAMES.length) - 1;
const INTERNAL = 1 << TransferKind.nativeInternal;

export const addressTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/address_transfers',
  summary: 'Native, ERC-20, ERC-721 and ERC-1155 transfers of a wallet, newest first',
  params: {
    address: address(),
    direction: choice(['in', 'out', 'both'])
      .default('both')
      .describe('Direction of the transfer, seen from the wallet'),
    limit: limit(100, 500),
    cursor: cursor().optional().describe('nextCursor of the previous page'),
    before_block: blockNumber().optional().describe('Only transfers in this block or earlier'),
    after_block: blockNumber().optional().describe('Only transfers in this block or later'),
    include_internal: flag()
      .default(false)
      .describe('Whether to include native transfers made by calls inside transactions (native_internal)'),
  },
  response: {
    address: addressField(),
    transfers: z.array(transferSchema),
    nextCursor: z.int().nullable().describe('Null on the last page'),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, direction: 'in', limit: '1' },
    response: {
      address: example.wallet,
      transfers: [{ ...examplePlainTransfer, direction: 'in' }],
      nextCursor: 90210,
      count: 1,
    },
  },
  prepare({ db, walletIds, nativeSymbol }) {
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const listIds = prepareHistoryIds(db);
    const readTransfers = prepareTransfersById(db);
    return (params, { head, budget }) => {
      const wallet = walletIds.idOf(params.address);
      if (wallet === undefined) return { address: params.address, transfers: [], nextCursor: null, count: 0 };
      const range = idsOfBlocks(params.after_block ?? head.startBlock, params.before_block ?? head.number);
      const filter = {
        from: range.from,
        below: Math.min(range.below, params.cursor ?? range.below),
        direction: DIRECTION_FLAGS[params.direction],
        kinds: params.include_internal ? ALL_KINDS : ALL_KINDS & ~INTERNAL,
        limit: params.limit + 1, // one extra row tells whether there is a next page
      };
      const ids = listIds(wallet, filter, budget);
      const page = ids.slice(0, params.limit);
      return {
        address: params.address,
        transfers: readTransfers(page).map((row) =>
          transferRecord(row, params.address, params.direction, nativeSymbol),
        ),
        nextCursor: ids.length > page.length ? (page.at(-1) ?? null) : null,
        count: page.length,
      };
    };
  },
});
