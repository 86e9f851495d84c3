/** GET /api/coordinated_wallets: wallets with the same first funder. */
import * as z from 'zod';
import { isHubCategory } from '../../model/label.ts';
import { HUB_ABOVE, prepareCoordinatedWallets } from '../../query/funding.ts';
import { addressField, countField, nextCursorField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding } from '../fields.ts';
import { address, limit, pageCursor } from '../params.ts';
import { fundingRecord, fundingSchema } from '../transfer-record.ts';

const { from: _, ...funding } = fundingSchema.shape;

const coordinatedSchema = z.object({ address: addressField(), ...funding }).meta({ id: 'CoordinatedWallet' });

export const coordinatedWallets = defineEndpoint({
  method: 'GET',
  path: '/api/coordinated_wallets',
  tag: 'funding',
  list: 'coordinated',
  summary: 'Other wallets with the same first funder, those funded closest in time first',
  params: { address: address(), limit: limit(50, 200), cursor: pageCursor(2).optional() },
  response: {
    address: addressField(),
    funder: addressField().nullable(),
    funderFundedCount: countField().describe(
      'Number of wallets first funded by this funder, including this one',
    ),
    hub: z
      .boolean()
      .describe(
        `Whether the funder serves many unrelated wallets: it funded more than ${HUB_ABOVE}, or its label ` +
          'category is exchange, bridge or faucet',
      ),
    coordinated: z.array(coordinatedSchema),
    nextCursor: nextCursorField(),
    count: countField(),
  },
  example: {
    params: { address: example.wallet, limit: '1' },
    response: {
      address: example.wallet,
      funder: example.funder,
      funderFundedCount: 12,
      hub: false,
      coordinated: [
        {
          address: example.other,
          ...exampleFunding,
        },
      ],
      nextCursor: '90210.90210',
      count: 1,
    },
  },
  prepare({ db, walletIds, labels }) {
    const coordinatedOf = prepareCoordinatedWallets(db);
    return ({ address, limit, cursor }) => {
      const [before, after] = cursor ?? [];
      const from = before === undefined || after === undefined ? undefined : ([before, after] as const);
      const found = walletIds.withId(address, (wallet) => coordinatedOf(wallet, limit, from));
      const coordinated = (found?.nearest ?? []).map((row) => {
        const { from: _, ...funding } = fundingRecord(row, `0x${row.from}`);
        return { address: `0x${row.to}`, ...funding };
      });
      const funder = walletIds.funderOf(found);
      const label = funder === null ? undefined : labels?.of(funder);
      return {
        address,
        funder,
        funderFundedCount: found?.funded ?? 0,
        hub: (found?.funded ?? 0) > HUB_ABOVE || (label !== undefined && isHubCategory(label.category)),
        coordinated,
        nextCursor: found?.next?.join('.') ?? null,
        count: coordinated.length,
      };
    };
  },
});
