/** GET /api/funding_recipients: whom a wallet sent native coins to lately. */
import { z } from 'zod';
import { isoSeconds } from '../lib/time.ts';
import { weiToCoin } from '../lib/units.ts';
import { blocksOfTransfers, transferIdsOfBlocks } from '../query/blocks.ts';
import { fundedWallets } from '../query/flows.ts';
import { transfersById } from '../query/transfers.ts';
import { walletsById } from '../query/wallets.ts';
import { endpoint } from './endpoint.ts';
import { example } from './examples.ts';
import {
  addressField,
  blockField,
  coinField,
  countField,
  sourceField,
  timeField,
  txHashField,
  weiField,
} from './fields.ts';
import { address, limit, windowOfBlocks } from './params.ts';
import { sourceOf } from './values.ts';

const recipientSchema = z.object({
  address: addressField(),
  amount: coinField(),
  amountWei: weiField().describe('Wei, all transfers within the window together'),
  transferCount: countField(),
  firstBlock: blockField(),
  lastBlock: blockField(),
  txHash: txHashField().describe('Of the latest transfer, as are timestamp and source'),
  timestamp: timeField(),
  source: sourceField(),
  firstFunding: z.boolean().describe('Whether the funder is the first of this recipient'),
});

export const fundingRecipients = endpoint({
  method: 'GET',
  path: '/api/funding_recipients',
  summary: 'The wallets an address sent native coins to within a window of blocks, most recent first',
  params: { address: address(), blocks: windowOfBlocks(), limit: limit(100, 200) },
  response: {
    address: addressField(),
    blocksWindow: countField(),
    recipients: z.array(recipientSchema),
    count: countField(),
  },
  example: {
    params: { address: example.funder, limit: '1' },
    response: {
      address: example.funder,
      blocksWindow: 10000,
      recipients: [
        {
          address: example.wallet,
          amount: '2.25',
          amountWei: '2250000000000000000',
          transferCount: 2,
          firstBlock: 120,
          lastBlock: 4711,
          txHash: example.txHash,
          timestamp: example.time,
          source: 'direct',
          firstFunding: true,
        },
      ],
      count: 1,
    },
  },
  prepare({ db, addresses }) {
    const idsOfBlocks = transferIdsOfBlocks(db);
    const fundedBy = fundedWallets(db);
    const wallets = walletsById(db);
    const blocksOf = blocksOfTransfers(db);
    const readTransfers = transfersById(db);
    return ({ address, blocks, limit }, { head, effort }) => {
      const funder = addresses.idOf(address);
      const range = idsOfBlocks(head.number - blocks + 1, head.number);
      const latest = funder === undefined ? [] : fundedBy(funder, range, limit, effort);
      const funded = wallets(latest.map(({ other }) => other));
      const firsts = blocksOf(latest.map(({ first }) => first));
      const lasts = readTransfers(latest.map(({ last }) => last));
      const recipients = latest.map(({ wei, count }, i) => {
        const last = lasts[i]!;
        return {
          address: `0x${funded[i]!.address}`,
          amount: weiToCoin(wei),
          amountWei: wei.toString(),
          transferCount: count,
          firstBlock: firsts[i]!.number,
          lastBlock: last.blockNumber,
          txHash: `0x${last.txHash}`,
          timestamp: isoSeconds(last.timestamp),
          source: sourceOf(last.kind),
          firstFunding: funded[i]!.funder === funder,
        };
      });
      return { address, blocksWindow: blocks, recipients, count: recipients.length };
    };
  },
});
