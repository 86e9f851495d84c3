/** GET /api/wallet_funding_source: who funded a wallet first. */
import { prepareFirstFunding } from '../../query/funding.ts';
import { addressField } from '../../schemas/fields.ts';
import { defineEndpoint } from '../endpoint.ts';
import { example, exampleFunding } from '../fields.ts';
import { address } from '../params.ts';
import { fundingRecord, fundingSchema } from '../transfer-record.ts';

const exampleRecord = { from: example.funder, ...exampleFunding };

const flat = fundingSchema.shape;

/** The flat fields for a wallet that was never funded. */
const NO_FUNDING = {
  from: null,
  amount: null,
  amountWei: null,
  txHash: null,
  eventIndex: null,
  blockNumber: null,
  blockHash: null,
  timestamp: null,
  source: null,
};

export const walletFundingSource = defineEndpoint({
  method: 'GET',
  path: '/api/wallet_funding_source',
  tag: 'funding',
  summary:
    'The first native transfer a wallet received: the earliest direct one, otherwise the earliest internal one',
  params: { address: address() },
  response: {
    address: addressField(),
    firstFunding: fundingSchema.nullable(),
    // Repeated at the top level for clients of the flat format.
    from: flat.from.nullable(),
    amount: flat.amount.nullable(),
    amountWei: flat.amountWei.nullable(),
    txHash: flat.txHash.nullable(),
    eventIndex: flat.eventIndex.nullable(),
    blockNumber: flat.blockNumber.nullable(),
    blockHash: flat.blockHash.nullable(),
    timestamp: flat.timestamp.nullable(),
    source: flat.source.nullable(),
    uncertain: flat.uncertain,
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
