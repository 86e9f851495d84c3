/** GET /api/latest_native_in: the newest native transfer a wallet received. */
import { latestNativeIn as latestIn } from '../query/funding.ts';
import { endpoint } from './endpoint.ts';
import { addressField } from './fields.ts';
import { address } from './params.ts';
import { fundingRecord, fundingSchema } from './records.ts';

export const latestNativeIn = endpoint({
  method: 'GET',
  path: '/api/latest_native_in',
  summary:
    'The newest native transfer a wallet received: the newest direct one, else the newest internal one',
  params: { address: address() },
  response: { address: addressField(), latestNativeIn: fundingSchema.nullable() },
  example: {
    params: { address: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be' },
    response: {
      address: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be',
      latestNativeIn: {
        from: '0x28c6c06298d514db089934071355e5743bf21d60',
        amount: '0.75',
        amountWei: '750000000000000000',
        txHash: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
        blockNumber: 4711,
        timestamp: '2026-11-21T08:00:00.000Z',
        source: 'direct',
      },
    },
  },
  prepare({ db }) {
    const latest = latestIn(db);
    return ({ address }) => {
      const row = latest(address);
      return { address, latestNativeIn: row ? fundingRecord(row) : null };
    };
  },
});
