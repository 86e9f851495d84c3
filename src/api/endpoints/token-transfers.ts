/** GET /api/token_transfers: all transfers of a token, newest first, paginated. */
import * as z from 'zod';
import { bigIntToBytes } from '../../lib/hex.ts';
import { kindBits, TOKEN_KIND_NAMES } from '../../model/transfer-kind.ts';
import { prepareTokenHistoryEnd, prepareTokenHistoryIds } from '../../query/token-history.ts';
import { prepareTokenIdByWallet, prepareTokenSymbols } from '../../query/tokens.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { addressField, completeToBlockField, countField, nextCursorField } from '../../schemas/fields.ts';
import { plainTransferSchema } from '../../schemas/transfers.ts';
import { defineEndpoint } from '../endpoint.ts';
import { EXAMPLE_COIN, example, sampleTokenTransfer } from '../fields.ts';
import { address, baseUnits, choices, limit, pageCursor, tokenNumber } from '../params.ts';
import { prepareIdsBetween, RANGE_PARAMS } from '../range-params.ts';
import { pageOf, plainTransferRecord } from '../transfer-record.ts';

export const tokenTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/token_transfers',
  tag: 'tokens',
  list: 'transfers',
  summary: 'Transfers of a token, newest first, down to its first one',
  params: {
    token: address().describe('Contract of the token'),
    limit: limit(100, 500),
    cursor: pageCursor(1).optional(),
    ...RANGE_PARAMS,
    type: choices(TOKEN_KIND_NAMES)
      .optional()
      .describe('Only transfers whose logs have the form of these types'),
    counterparty: address().optional().describe('Only transfers with this address on either side'),
    min_amount: baseUnits().optional().describe('Only transfers of at least this many base units'),
    token_id: tokenNumber()
      .optional()
      .describe('Only transfers of this ERC-721 or ERC-1155 token of the contract'),
  },
  response: {
    token: addressField(),
    transfers: z.array(plainTransferSchema),
    nextCursor: nextCursorField(),
    count: countField(),
    completeToBlock: completeToBlockField(),
  },
  example: {
    params: { token: example.token, limit: '1' },
    response: {
      token: example.token,
      transfers: [plainTransferRecord(sampleTokenTransfer, EXAMPLE_COIN)],
      nextCursor: '90210',
      count: 1,
      completeToBlock: 4711,
    },
  },
  prepare({ db, walletIds, nativeSymbol }) {
    const idsBetween = prepareIdsBetween(db);
    const endOf = prepareTokenHistoryEnd(db);
    const listIds = prepareTokenHistoryIds(db);
    const readTransfers = prepareTransfersById(db);
    const tokenOf = prepareTokenIdByWallet(db);
    const displayOf = prepareTokenSymbols(db);
    return (params, { head, budget }) => {
      const { limit, type, counterparty, min_amount, token_id } = params;
      const end = endOf();
      const answer = { token: params.token, completeToBlock: end.block };
      const token = walletIds.withId(params.token, tokenOf);
      const wallet = counterparty === undefined ? undefined : walletIds.idOf(counterparty);
      if (token === undefined || (counterparty !== undefined && wallet === undefined))
        return { ...answer, transfers: [], nextCursor: null, count: 0 };
      const { from, below } = idsBetween(params, params.cursor?.[0], head);
      const filter = {
        from,
        below: Math.min(below, end.lastTransfer + 1),
        kinds: type && kindBits(({ name }) => type.some((wanted) => wanted === name)),
        wallet,
        minAmount: min_amount === undefined ? undefined : bigIntToBytes(min_amount),
        ...(token_id !== undefined && {
          tokenNumber: bigIntToBytes(token_id),
          viewKind: displayOf(params.token.slice(2)).viewKind,
        }),
        limit: limit + 1, // one more shows whether there is a next page
      };
      const { ids, resumeBelow } = listIds(token, filter, budget);
      const { page, last } = pageOf(ids, limit);
      const next = last ?? resumeBelow;
      return {
        ...answer,
        transfers: readTransfers(page).map((row) => plainTransferRecord(row, nativeSymbol)),
        nextCursor: next === null ? null : `${next}`,
        count: page.length,
      };
    };
  },
});
