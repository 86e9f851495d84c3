/** GET /api/address_transfers: all transfers of a wallet, newest first, paginated. */
import * as z from 'zod';
import { bigIntToBytes } from '../../lib/hex.ts';
import { kindBits, TRANSFER_KIND_NAMES, TransferKind } from '../../model/transfer-kind.ts';
import { prepareTokenIdByWallet } from '../../query/tokens.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { type HistoryFilter, prepareHistoryIds } from '../../query/wallet-history-ids.ts';
import { addressField, countField } from '../../schemas/fields.ts';
import { transferSchema } from '../../schemas/transfers.ts';
import { HistoryFlag } from '../../store/wallet-history.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address, choice, choices, coinAmount, cursor, flag, limit } from '../params.ts';
import { prepareIdsBetween, RANGE_PARAMS } from '../range-params.ts';
import { examplePlainTransfer, pageOf, transferRecord } from '../transfer-record.ts';

const DIRECTION_FLAGS = {
  in: HistoryFlag.in,
  out: HistoryFlag.out,
  both: HistoryFlag.in | HistoryFlag.out,
} as const;

/** One bit per kind. */
const ALL_KINDS = kindBits(() => true);
const INTERNAL = 1 << TransferKind.nativeInternal;

const PARAMS = {
  address: address(),
  direction: choice(['in', 'out', 'both'])
    .default('both')
    .describe('Direction of the transfer, seen from the wallet'),
  limit: limit(100, 500),
  cursor: cursor().optional().describe('nextCursor of the previous page'),
  ...RANGE_PARAMS,
  include_internal: flag()
    .default(false)
    .describe('Whether to include native transfers made by calls inside transactions (native_internal)'),
  type: choices(TRANSFER_KIND_NAMES)
    .optional()
    .describe(
      'Only transfers whose logs have the form of these types; native_internal here implies include_internal',
    ),
  token: address().optional().describe('Only transfers of this token contract'),
  counterparty: address().optional().describe('Only transfers with this address on the other side'),
  min_mon: coinAmount().optional().describe('Only native transfers of at least this many whole coins'),
};

type Params = z.output<z.ZodObject<typeof PARAMS>>;

export const addressTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/address_transfers',
  tag: 'wallets',
  list: 'transfers',
  summary: 'Native, ERC-20, ERC-721 and ERC-1155 transfers of a wallet, newest first',
  params: PARAMS,
  response: {
    address: addressField(),
    transfers: z.array(transferSchema),
    nextCursor: z
      .int()
      .nullable()
      .describe(
        'Null on the last page. With filters, a page may hold fewer than limit transfers and still have a nextCursor',
      ),
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
    const idsBetween = prepareIdsBetween(db);
    const listIds = prepareHistoryIds(db);
    const readTransfers = prepareTransfersById(db);
    const tokenOf = prepareTokenIdByWallet(db);
    return (params, { head, budget }) => {
      const { address, limit, min_mon } = params;
      const wallet = walletIds.idOf(address);
      const counterparty =
        params.counterparty === undefined ? undefined : walletIds.idOf(params.counterparty);
      const token = params.token === undefined ? undefined : walletIds.withId(params.token, tokenOf);
      const isUnknown =
        (params.counterparty !== undefined && counterparty === undefined) ||
        (params.token !== undefined && token === undefined);
      if (wallet === undefined || isUnknown) return { address, transfers: [], nextCursor: null, count: 0 };
      const filter: HistoryFilter = {
        ...idsBetween(params, params.cursor, head),
        direction: DIRECTION_FLAGS[params.direction],
        kinds: kindsOf(params),
        counterparty,
        token,
        minWei: min_mon && bigIntToBytes(min_mon.wei),
        limit: limit + 1, // one more shows whether there is a next page
      };
      const { ids, resumeBelow } = listIds(wallet, filter, budget);
      const { page, last } = pageOf(ids, limit);
      return {
        address,
        transfers: readTransfers(page).map((row) =>
          transferRecord(row, address, params.direction, nativeSymbol),
        ),
        nextCursor: last ?? resumeBelow,
        count: page.length,
      };
    };
  },
});

/** A bit for each wanted kind. */
function kindsOf({ type, include_internal }: Pick<Params, 'type' | 'include_internal'>): number {
  if (type === undefined) return include_internal ? ALL_KINDS : ALL_KINDS & ~INTERNAL;
  return kindBits(({ name }) => type.includes(name));
}
