/** GET /api/token_first_buyers: the first receivers of a token. */
import { z } from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { prepareFirstBuyers, prepareTokenIdByWallet } from '../../query/tokens.ts';
import { defineEndpoint } from '../endpoint.ts';
import { addressField, blockField, countField, example, timeField } from '../fields.ts';
import { address, limit } from '../params.ts';

const buyerSchema = z.object({
  address: addressField(),
  firstSeenBlock: blockField().describe('Block in which the address first received a non-zero amount'),
  firstSeenAt: timeField(),
  transferCount: countField().describe('Transfers of the token to or from this address'),
});

export const tokenFirstBuyers = defineEndpoint({
  method: 'GET',
  path: '/api/token_first_buyers',
  summary: 'The first receivers of a token, earliest first',
  params: { token: address(), limit: limit(20, 200) },
  response: { token: addressField(), buyers: z.array(buyerSchema), count: countField() },
  example: {
    params: { token: example.token, limit: '1' },
    response: {
      token: example.token,
      buyers: [
        { address: example.wallet, firstSeenBlock: 4711, firstSeenAt: example.time, transferCount: 3 },
      ],
      count: 1,
    },
  },
  prepare({ db, walletIds }) {
    const tokenOf = prepareTokenIdByWallet(db);
    const buyersOf = prepareFirstBuyers(db);
    return ({ token, limit }) => {
      const id = walletIds.withId(token, tokenOf);
      const buyers = (id === undefined ? [] : buyersOf(id, limit)).map((buyer) => ({
        address: `0x${buyer.address}`,
        firstSeenBlock: buyer.block,
        firstSeenAt: secondsToIso(buyer.timestamp),
        transferCount: buyer.transfers,
      }));
      return { token, buyers, count: buyers.length };
    };
  },
});
