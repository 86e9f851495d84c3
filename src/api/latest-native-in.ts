/** GET /api/latest_native_in: the newest native transfer a wallet received. */
import { prepareLatestNativeIn } from '../query/funding.ts';
import { defineEndpoint } from './endpoint.ts';
import { example } from './examples.ts';
import { addressField } from './fields.ts';
import { fundingRecord, fundingSchema } from './funding-record.ts';
import { address } from './params.ts';

export const latestNativeIn = defineEndpoint({
  method: 'GET',
  path: '/api/latest_native_in',
  summary:
    'The newest native transfer a wallet received: the newest direct one, else the newest internal one',
  params: { address: address() },
  response: { address: addressField(), latestNativeIn: fundingSchema.nullable() },
  example: {
    params: { address: example.wallet },
    response: {
      address: example.wallet,
      latestNativeIn: {
        from: example.funder,
        amount: '0.75',
        amountWei: '750000000000000000',
        txHash: example.txHash,
        blockNumber: 4711,
        timestamp: example.time,
        source: 'direct',
      },
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
