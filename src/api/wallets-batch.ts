/** POST /api/wallets/batch: the main facts of up to 100 wallets. */
import { z } from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { prepareWalletFacts, type WalletFacts } from '../query/wallets.ts';
import type { Hex } from '../types.ts';
import { defineEndpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { addressField, blockField, countField, timeField } from './fields.ts';
import { addressAsSent, listOf } from './params.ts';

const entrySchema = z.object({
  firstSeenBlock: blockField(),
  lastSeenBlock: blockField(),
  txCount: countField(),
  lastActivity: timeField(),
  firstFunder: addressField().nullable(),
  firstFundingBlock: blockField().nullable(),
});

/** A wallet in the batch answer; `funder` is the address of who funded it. */
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
      .describe('By address exactly as it was sent; null for a wallet without indexed activity'),
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
