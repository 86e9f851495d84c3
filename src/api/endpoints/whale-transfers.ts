/** GET /api/whale_transfers: large native transfers. */
import { z } from 'zod';
import { digitsToBigInt } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin6 } from '../../lib/units.ts';
import { prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { prepareLargeNativeIds } from '../../query/whales.ts';
import { defineEndpoint } from '../endpoint.ts';
import { addressField, coin6Field, countField, example, exampleFunding, sourceOf } from '../fields.ts';
import { fundingSchema } from '../funding-record.ts';
import { blockWindow, coinAmount, limit } from '../params.ts';

const whaleSchema = fundingSchema.extend({
  to: addressField(),
  amount: coin6Field(),
  transferType: z.literal('native'),
});

export const whaleTransfers = defineEndpoint({
  method: 'GET',
  path: '/api/whale_transfers',
  summary: 'Native transfers, direct and internal, of at least a given amount, newest first',
  params: {
    min_mon: coinAmount().prefault('100').describe('Minimum amount in whole coins, as a decimal number'),
    blocks: blockWindow(),
    limit: limit(50, 200),
  },
  response: {
    minMon: z.number().min(0),
    blocksWindow: countField(),
    transfers: z.array(whaleSchema),
    count: countField(),
  },
  example: {
    params: { min_mon: '1000.5', limit: '1' },
    response: {
      minMon: 1000.5,
      blocksWindow: 10000,
      transfers: [
        {
          from: example.funder,
          to: example.wallet,
          ...exampleFunding,
          amount: '1500.000000',
          amountWei: '1500000000000000000000',
          transferType: 'native',
        },
      ],
      count: 1,
    },
  },
  prepare({ db }) {
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const findLarge = prepareLargeNativeIds(db);
    const readTransfers = prepareTransfersById(db);
    return ({ min_mon, blocks, limit }, { head, budget }) => {
      const range = idsOfBlocks(head.number - blocks + 1, head.number);
      const transfers = readTransfers(findLarge(min_mon.wei, range, limit, budget)).map((row) => {
        const wei = digitsToBigInt(row.amount);
        return {
          from: `0x${row.from}`,
          to: `0x${row.to}`,
          amount: weiToCoin6(wei),
          amountWei: wei.toString(),
          txHash: `0x${row.txHash}`,
          eventIndex: row.eventIndex,
          blockNumber: row.blockNumber,
          timestamp: secondsToIso(row.timestamp),
          transferType: 'native' as const,
          source: sourceOf(row.kind),
        };
      });
      return { minMon: min_mon.coins, blocksWindow: blocks, transfers, count: transfers.length };
    };
  },
});
