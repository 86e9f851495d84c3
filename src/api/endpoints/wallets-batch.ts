/** POST /api/wallets/batch: key facts about up to 100 wallets. */
import { z } from 'zod';
import type { Hex } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import { prepareWalletFacts, type WalletFacts } from '../../query/wallets.ts';
import { defineEndpoint } from '../endpoint.ts';
import { addressField, blockField, countField, example, timeField } from '../fields.ts';
import { addressAsSent, listOf } from '../params.ts';

const entrySchema = z.object({
  firstSeenBlock: blockField(),
  lastSeenBlock: blockField(),
  txCount: countField(),
  lastActivity: timeField(),
  firstFunder: addressField().nullable(),
  firstFundingBlock: blockField().nullable(),
});

function walletEntry(facts: WalletFacts, funder: Hex | null): z.output<typeof entrySchema> {
  return {
    firstSeenBlock: facts.firstBlock,
    lastSeenBlock: facts.lastBlock,
    txCount: facts.transactions,
    lastActivity: secondsToIso(facts.lastTimestamp),
    firstFunder: funder,
    firstFundingBlock: facts.fundingBlock,
  };
}

export const walletsBatch = defineEndpoint({
  method: 'POST',
  path: '/api/wallets/batch',
  summary: 'First and last activity, transaction count and first funder of up to 100 wallets',
  params: { addresses: listOf(addressAsSent(), 100) },
  response: {
    wallets: z
      .record(z.string(), entrySchema.nullable())
      .describe('Keyed by address exactly as sent; null for a wallet without indexed activity'),
    count: countField(),
  },
  example: {
    params: {
      addresses: [example.wallet, '0x000000000000000000000000000000000000dEaD'],
    },
    response: {
      wallets: {
        [example.wallet]: {
          firstSeenBlock: 120,
          lastSeenBlock: 4711,
          txCount: 42,
          lastActivity: example.time,
          firstFunder: example.funder,
          firstFundingBlock: 120,
        },
        '0x000000000000000000000000000000000000dEaD': null,
      },
      count: 2,
    },
  },
  prepare({ db, walletIds }) {
    const facts = prepareWalletFacts(db);
    return ({ addresses }) => {
      const wallets: Record<string, z.output<typeof entrySchema> | null> = {};
      for (const address of addresses) {
        const found = walletIds.query(address.toLowerCase(), facts);
        wallets[address] = found ? walletEntry(found, walletIds.funderOf(found)) : null;
      }
      return { wallets, count: Object.keys(wallets).length };
    };
  },
});
