/** GET /api/wallet_counterparties: the addresses with which a wallet has the most transfers. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin } from '../../lib/units.ts';
import { prepareBlocksOfTransfers } from '../../query/blocks.ts';
import { prepareCounterparties } from '../../query/counterparties.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import {
  addressField,
  blockField,
  coinField,
  countField,
  nextCursorField,
  timeField,
  weiField,
} from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example } from '../fields.ts';
import { address, limit, pageCursor } from '../params.ts';
import { pageOf } from '../transfer-record.ts';

const counterpartySchema = z
  .object({
    address: addressField(),
    transferCount: countField(),
    inCount: countField().describe('Transfers from this address to the wallet'),
    outCount: countField().describe('Transfers from the wallet to this address'),
    nativeIn: coinField(),
    nativeInWei: weiField(),
    nativeOut: coinField(),
    nativeOutWei: weiField(),
    lastBlock: blockField(),
    lastSeenAt: timeField(),
  })
  .meta({ id: 'Counterparty' });

export const walletCounterparties = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_counterparties',
  tag: 'wallets',
  list: 'counterparties',
  summary: 'Addresses with which a wallet has the most transfers, in descending order',
  params: { address: address(), limit: limit(50, 200), cursor: pageCursor(2).optional() },
  response: {
    address: addressField(),
    counterparties: z.array(counterpartySchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, limit: '1' },
    response: {
      address: example.wallet,
      counterparties: [
        {
          address: example.other,
          transferCount: 12,
          inCount: 5,
          outCount: 7,
          nativeIn: '1.5',
          nativeInWei: '1500000000000000000',
          nativeOut: '0',
          nativeOutWei: '0',
          lastBlock: 4711,
          lastSeenAt: example.time,
        },
      ],
      nextCursor: '12.90210',
      count: 1,
    },
  },
  prepare({ db, walletIds }) {
    const busiestOf = prepareCounterparties(db);
    const wallets = prepareWalletsById(db);
    const blocks = prepareBlocksOfTransfers(db);
    return ({ address, limit, cursor }, { budget }) => {
      const wallet = walletIds.idOf(address);
      const [count = 0, last = 0] = cursor ?? [];
      const place = cursor && { count, last };
      // One more shows whether there is a next page.
      const found = wallet === undefined ? [] : busiestOf(wallet, limit + 1, budget, place);
      const { page: busiest, last: next } = pageOf(found, limit);
      const others = wallets(busiest.map(({ counterparty }) => counterparty));
      const lasts = blocks(busiest.map(({ lastTransfer }) => lastTransfer));
      const counterparties = busiest.map(({ inCount, outCount, inWei, outWei }, i) => ({
        address: `0x${others[i]!.address}`,
        transferCount: inCount + outCount,
        inCount,
        outCount,
        nativeIn: weiToCoin(inWei),
        nativeInWei: inWei.toString(),
        nativeOut: weiToCoin(outWei),
        nativeOutWei: outWei.toString(),
        lastBlock: lasts[i]!.number,
        lastSeenAt: secondsToIso(lasts[i]!.timestamp),
      }));
      const nextCursor = next === undefined ? null : `${next.inCount + next.outCount}.${next.lastTransfer}`;
      return { address, counterparties, nextCursor, count: counterparties.length };
    };
  },
});
