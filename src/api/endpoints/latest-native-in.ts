/** GET /api/latest_native_in: the latest native transfer a wallet received. */
import { prepareLatestNativeIn } from '../../query/funding.ts';
import { addressField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding } from '../fields.ts';
import { address } from '../params.ts';
import { fundingRecord, fundingSchema } from '../transfer-record.ts';

export const latestNativeIn = defineEndpoint({
  method: 'GET',
  path: '/api/latest_native_in',
  tag: 'funding',
  summary:
    'The latest native transfer a wallet received: the latest direct one, otherwise the latest internal one',
  params: { address: address() },
  response: { address: addressField(), latestNativeIn: fundingSchema.nullable() },
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      latestNativeIn: { from: example.funder, ...exampleFunding },
    },
  },
  prepare({ db, walletIds }) {
    const latest = prepareLatestNativeIn(db);
    return ({ address }) => {
      const row = walletIds.query(address, latest);
      return { address, latestNativeIn: row ? fundingRecord(row, walletIds.addressOf(row.sender)) : null };
    };
  },
});
