/** GET /api/token_first_buyers: the first receivers of a token. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareFirstBuyers, prepareHasMoreBuyers, prepareTokenIdByWallet } from '../../query/tokens.ts';
import {
  addressField,
  blockField,
  countField,
  eventIndexField,
  nextCursorField,
  timeField,
  txHashField,
} from '../../schemas/fields.ts';
import { MAX_FIRST_BUYERS } from '../../store/schema.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address, limit, pageCursor } from '../params.ts';
import { pageOf } from '../transfer-record.ts';

const buyerSchema = z
  .object({
    address: addressField(),
    firstSeenBlock: blockField().describe('Block in which the address first received a non-zero amount'),
    firstSeenAt: timeField(),
    txHash: txHashField().describe('Transaction in which it first received a non-zero amount'),
    eventIndex: eventIndexField(),
    transferCount: countField().describe('Transfers of the token to or from this address'),
  })
  .meta({ id: 'FirstBuyer' });

export const tokenFirstBuyers = defineEndpoint({
  method: 'GET',
  path: '/api/token_first_buyers',
  tag: 'tokens',
  list: 'buyers',
  summary: 'The first receivers of a token, earliest first',
  params: { token: address(), limit: limit(20, 200), cursor: pageCursor(1).optional() },
  response: {
    token: addressField(),
    buyers: z.array(buyerSchema).describe(`At most ${MAX_FIRST_BUYERS} over all pages`),
    truncated: z
      .boolean()
      .describe(`Whether only the first ${MAX_FIRST_BUYERS} receivers are kept, and the token may have more`),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { token: example.token, limit: '1' },
    response: {
      token: example.token,
      buyers: [
        {
          address: example.wallet,
          firstSeenBlock: 4711,
          firstSeenAt: example.time,
          txHash: example.txHash,
          eventIndex: 0,
          transferCount: 3,
        },
      ],
      truncated: false,
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db, walletIds }) {
    const tokenOf = prepareTokenIdByWallet(db);
    const buyersOf = prepareFirstBuyers(db);
    const hasMore = prepareHasMoreBuyers(db);
    return ({ token, limit, cursor }) => {
      const id = walletIds.withId(token, tokenOf);
      const found = id === undefined ? [] : buyersOf(id, cursor?.[0] ?? 0, limit + 1);
      const { page, last } = pageOf(found, limit);
      const buyers = page.map((buyer) => ({
        address: `0x${buyer.address}`,
        firstSeenBlock: buyer.block,
        firstSeenAt: secondsToIso(buyer.timestamp),
        txHash: `0x${buyer.txHash}`,
        eventIndex: buyer.eventIndex,
        transferCount: buyer.transfers,
      }));
      return {
        token,
        buyers,
        truncated: id !== undefined && hasMore(id),
        nextCursor: last === undefined ? null : `${last.transfer}`,
        count: buyers.length,
      };
    };
  },
});
