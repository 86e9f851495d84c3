/** GET /api/funding_recipients: the wallets to which an address recently sent native coins. */
import * as z from 'zod';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin } from '../../lib/units.ts';
import { prepareBlocksOfTransfers, prepareTransferIdsOfBlocks } from '../../query/blocks.ts';
import { prepareFundedWallets } from '../../query/funded-wallets.ts';
import { prepareTransfersById } from '../../query/transfers.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import {
  addressField,
  blockField,
  countField,
  nextCursorField,
  txHashField,
  weiField,
} from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, sourceOf } from '../fields.ts';
import { address, blockWindow, limit, pageCursor } from '../params.ts';
import { fundingSchema, pageOf, uncertainMember } from '../transfer-record.ts';

const { amount, eventIndex, blockHash, timestamp, source, uncertain } = fundingSchema.shape;

const recipientSchema = z
  .object({
    address: addressField(),
    amount,
    amountWei: weiField().describe('Total of all transfers in the window, in wei'),
    transferCount: countField(),
    firstBlock: blockField(),
    lastBlock: blockField(),
    txHash: txHashField().describe(
      'Transaction of the latest transfer, as are eventIndex, blockHash, timestamp and source',
    ),
    eventIndex,
    blockHash,
    timestamp,
    source,
    firstFunding: z.boolean().describe('Whether this address was the first to fund the recipient'),
    uncertain,
  })
  .meta({ id: 'FundingRecipient' });

export const fundingRecipients = defineEndpoint({
  method: 'GET',
  path: '/api/funding_recipients',
  tag: 'funding',
  list: 'recipients',
  summary: 'Wallets to which an address sent native coins within a block window, most recent first',
  params: {
    address: address(),
    blocks: blockWindow(),
    limit: limit(100, 200),
    cursor: pageCursor(1).optional(),
  },
  response: {
    address: addressField(),
    blocksWindow: countField(),
    recipients: z.array(recipientSchema),
    nextCursor: nextCursorField(),
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
          eventIndex: 0,
          blockHash: example.blockHash,
          timestamp: example.time,
          source: 'direct',
          firstFunding: true,
        },
      ],
      nextCursor: '90210',
      count: 1,
    },
  },
  prepare({ db, walletIds }) {
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const fundedBy = prepareFundedWallets(db);
    const wallets = prepareWalletsById(db);
    const blocksOf = prepareBlocksOfTransfers(db);
    const readTransfers = prepareTransfersById(db);
    return ({ address, blocks, limit, cursor }, { head, budget }) => {
      const funder = walletIds.idOf(address);
      const range = idsOfBlocks(head.number - blocks + 1, head.number);
      // One more shows whether there is a next page.
      const found = funder === undefined ? [] : fundedBy(funder, range, limit + 1, budget, cursor?.[0]);
      const { page: latest, last: next } = pageOf(found, limit);
      const funded = wallets(latest.map(({ recipient }) => recipient));
      const firsts = blocksOf(latest.map(({ firstTransfer }) => firstTransfer));
      const lasts = readTransfers(latest.map(({ lastTransfer }) => lastTransfer));
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
          eventIndex: last.eventIndex,
          blockHash: `0x${last.blockHash}`,
          timestamp: secondsToIso(last.timestamp),
          source: sourceOf(last.kind),
          firstFunding: funded[i]!.funder === funder,
          ...uncertainMember(last),
        };
      });
      const nextCursor = next === undefined ? null : `${next.lastTransfer}`;
      return { address, blocksWindow: blocks, recipients, nextCursor, count: recipients.length };
    };
  },
});
