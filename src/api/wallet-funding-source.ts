/** GET /api/wallet_funding_source: who funded a wallet first. */
import { firstFunding } from '../query/funding.ts';
import { endpoint } from './endpoint.ts';
import { addressField } from './fields.ts';
import { address } from './params.ts';
import { fundingRecord, fundingSchema } from './records.ts';

const record = {
  from: '0x28c6c06298d514db089934071355e5743bf21d60',
  amount: '1.5',
  amountWei: '1500000000000000000',
  txHash: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
  blockNumber: 120,
  timestamp: '2026-11-21T08:00:00.000Z',
  source: 'direct' as const,
};

/** The flat form of a wallet that nobody funded. */
const NOBODY = {
  from: null,
  amount: null,
  amountWei: null,
  txHash: null,
  blockNumber: null,
  timestamp: null,
  source: null,
};

export const walletFundingSource = endpoint({
  method: 'GET',
  path: '/api/wallet_funding_source',
  summary:
    'The first native transfer a wallet received: the earliest direct one, else the earliest internal one',
  params: { address: address() },
  response: {
    address: addressField(),
    firstFunding: fundingSchema.nullable(),
    // The same fields once more beside it, for clients of the flat form.
    from: fundingSchema.shape.from.nullable(),
    amount: fundingSchema.shape.amount.nullable(),
    amountWei: fundingSchema.shape.amountWei.nullable(),
    txHash: fundingSchema.shape.txHash.nullable(),
    blockNumber: fundingSchema.shape.blockNumber.nullable(),
    timestamp: fundingSchema.shape.timestamp.nullable(),
    source: fundingSchema.shape.source.nullable(),
  },
  example: {
    params: { address: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be' },
    response: { address: '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be', firstFunding: record, ...record },
  },
  prepare({ db }) {
    const funding = firstFunding(db);
    return ({ address }) => {
      const row = funding(address);
      const record = row ? fundingRecord(row) : null;
      return { address, firstFunding: record, ...(record ?? NOBODY) };
    };
  },
});
