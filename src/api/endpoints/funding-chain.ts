/** GET /api/funding_chain: the first funder of a wallet, that funder's first funder, and so on. */
import * as z from 'zod';
import { RequestError } from '../../lib/errors.ts';
import { prepareFundingChain } from '../../query/funding.ts';
import { addressField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding } from '../fields.ts';
import { address, integer } from '../params.ts';
import { fundingRecord, fundingSchema } from '../transfer-record.ts';

const MAX_DEPTH = 10;
const DEFAULT_DEPTH = 5;

const { from: _, ...funding } = fundingSchema.shape;
const hopSchema = z
  .object({
    hop: z.int().min(1).max(MAX_DEPTH),
    funded: addressField(),
    funder: addressField(),
    ...funding,
  })
  .meta({ id: 'FundingHop' });

export const fundingChain = defineEndpoint({
  method: 'GET',
  path: '/api/funding_chain',
  tag: 'funding',
  list: 'chain',
  summary: 'The first funder of a wallet, the first funder of that funder, and so on',
  params: {
    address: address(),
    depth: integer(1, MAX_DEPTH)
      .optional()
      .describe(
        `Maximum number of hops; default ${DEFAULT_DEPTH}. The upper limit depends on the key's tier`,
      ),
  },
  tierLimited: true,
  response: {
    address: addressField(),
    chain: z.array(hopSchema),
    depth: z.int().min(0).max(MAX_DEPTH).describe('Number of hops in the answer'),
  },
  example: {
    params: { address: example.wallet, depth: '3' },
    response: {
      address: example.wallet,
      chain: [
        {
          hop: 1,
          funded: example.wallet,
          funder: example.funder,
          ...exampleFunding,
        },
      ],
      depth: 1,
    },
  },
  prepare({ db, walletIds }) {
    const chainFrom = prepareFundingChain(db);
    return ({ address, depth }, { chainDepth }) => {
      if (depth !== undefined && depth > chainDepth) {
        throw new RequestError(403, 'tier_limit', `depth is limited to ${chainDepth} for this key`, 'depth');
      }
      const hops = depth ?? Math.min(DEFAULT_DEPTH, chainDepth);
      const rows = walletIds.withId(address, (wallet) => chainFrom(wallet, hops)) ?? [];
      const chain = rows.map((row, i) => {
        const { from, ...funding } = fundingRecord(row, `0x${row.from}`);
        return { hop: i + 1, funded: `0x${row.to}`, funder: from, ...funding };
      });
      return { address, chain, depth: chain.length };
    };
  },
});
