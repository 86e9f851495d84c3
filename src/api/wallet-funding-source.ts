/** GET /api/wallet_funding_source: who funded a wallet first. */
import { prepareFirstFunding } from '../query/funding.ts';
import { defineEndpoint } from './endpoint.ts';
import { example, exampleFunding } from './examples.ts';
import { addressField } from './fields.ts';
import { fundingRecord, fundingSchema } from './funding-record.ts';
import { address } from './params.ts';

const exampleRecord = { from: example.funder, ...exampleFunding };

/** The flat form of a wallet that nobody funded. */
const NO_FUNDING = {
  from: null,
  amount: null,
  amountWei: null,
  txHash: null,
  blockNumber: null,
  timestamp: null,
  source: null,
};

export const walletFundingSource = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_funding_source',
  summary:
    'The first native transfer a wallet received: the earliest direct one, else the earliest internal one',
  params: { address: address() },
  response: {
    address: addressField(),
    firstFunding: fundingSchema.nullable(),
    // The same fields again at the top level, for clients of the flat form.
    from: fundingSchema.shape.from.nullable(),
    amount: fundingSchema.shape.amount.nullable(),
    amountWei: fundingSchema.shape.amountWei.nullable(),
    txHash: fundingSchema.shape.txHash.nullable(),
    blockNumber: fundingSchema.shape.blockNumber.nullable(),
    timestamp: fundingSchema.shape.timestamp.nullable(),
    source: fundingSchema.shape.source.nullable(),
  },
  example: {
    params: { address: example.wallet },
    response: { address: example.wallet, firstFunding: exampleRecord, ...exampleRecord },
  },
  prepare({ db, walletIds }) {
    const funding = prepareFirstFunding(db);
    return ({ address }) => {
      const row = walletIds.query(address, funding);
      const record = row ? fundingRecord(row, walletIds.addressOf(row.sender)) : null;
      return { address, firstFunding: record, ...(record ?? NO_FUNDING) };
    };
  },
});
