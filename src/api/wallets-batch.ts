/** POST /api/wallets/batch: the main facts of up to 100 wallets. */
import { z } from 'zod';
import { walletFacts } from '../query/wallets.ts';
import { endpoint } from './endpoint.ts';
import { countField } from './fields.ts';
import { addressAsSent, listOf } from './params.ts';
import { walletEntry, walletEntrySchema } from './records.ts';

export const walletsBatch = endpoint({
  method: 'POST',
  path: '/api/wallets/batch',
  summary: 'First and last activity, transaction count and first funder of up to 100 wallets',
  params: { addresses: listOf(addressAsSent(), 100) },
  response: {
    /** By address exactly as it was sent; null for a wallet without indexed activity. */
    wallets: z.record(z.string(), walletEntrySchema.nullable()),
    count: countField(),
  },
  example: {
    params: {
      addresses: ['0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be', '0x000000000000000000000000000000000000dEaD'],
    },
    response: {
      wallets: {
        '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be': {
          firstSeenBlock: 120,
          lastSeenBlock: 4711,
          txCount: 42,
          lastActivity: '2026-11-21T08:00:00.000Z',
          firstFunder: '0x28c6c06298d514db089934071355e5743bf21d60',
          firstFundingBlock: 120,
        },
        '0x000000000000000000000000000000000000dEaD': null,
      },
      count: 2,
    },
  },
  prepare({ db }) {
    const facts = walletFacts(db);
    return ({ addresses }) => {
      const wallets: Record<string, z.output<typeof walletEntrySchema> | null> = {};
      for (const address of addresses) {
        const found = facts(address);
        wallets[address] = found ? walletEntry(found) : null;
      }
      return { wallets, count: Object.keys(wallets).length };
    };
  },
});
