/** GET /api/transaction: a transaction decoded: its outcome, method, events, trades, and why it failed. */
import * as z from 'zod';
import { Signatures } from '../../abi/signatures.ts';
import { RequestError } from '../../lib/errors.ts';
import { secondsToIso } from '../../lib/time.ts';
import { weiToCoin } from '../../lib/units.ts';
import { prepareIndexedBlock, prepareTransferIdsOfTransaction } from '../../query/blocks.ts';
import { prepareTradeIds } from '../../query/trade-ids.ts';
import { MAX_TRADE_ROWS, prepareTransactionTrades } from '../../query/transaction-trades.ts';
import { prepareWalletsById } from '../../query/wallets.ts';
import {
  addressField,
  blockField,
  coinField,
  countField,
  timeField,
  txHashField,
  weiField,
} from '../../schemas/fields.ts';
import { cutHex, decodedRecord, decodedSchema, hexField, SHOWN_INPUT_BYTES } from '../decoded-fields.ts';
import { defineEndpoint, type EndpointSource, type RequestContext } from '../endpoint.ts';
import { eventRecords, eventSchema } from '../event-records.ts';
import { failureRecord, failureSchema } from '../failure-record.ts';
import { example } from '../fields.ts';
import { innerCallFields, innerCallRecords } from '../inner-call-records.ts';
import { KEPT, type NodeTransaction, TRANSACTION_STATUSES } from '../node-transaction.ts';
import { hash } from '../params.ts';
import { exampleTrade, prepareTradeRecords, tradeSchema } from '../trade-record.ts';

/** Most wallets whose trades are given. */
const MAX_TRADES = 50;

const walletTradeSchema = z
  .object({ wallet: addressField(), ...tradeSchema.shape })
  .meta({ id: 'TransactionTrade' });

type WalletTradeRecord = z.output<typeof walletTradeSchema>;

function gasField(what: string) {
  return z.string().regex(/^\d+$/).nullable().describe(what);
}

export const transaction = defineEndpoint({
  method: 'GET',
  path: '/api/transaction',
  tag: 'chain',
  summary:
    'A transaction decoded: outcome, fee, method and events by name, who bought and sold what, why it failed',
  params: { tx: hash().describe('Hash of the transaction, also of a pending one') },
  response: {
    txHash: txHashField(),
    status: z
      .enum(TRANSACTION_STATUSES)
      .describe('unknown: it is in a block, but the node does not say how it ended'),
    blockNumber: blockField().nullable().describe('Null while pending; blockHash and timestamp likewise'),
    blockHash: txHashField().nullable(),
    timestamp: timeField().nullable(),
    from: addressField().nullable(),
    to: addressField().nullable().describe('Null for a creation'),
    createdContract: addressField().nullable(),
    value: coinField().nullable(),
    valueWei: weiField().nullable(),
    fee: coinField()
      .nullable()
      .describe(
        'Gas used by the price per gas, and what a rollup of the OP stack takes beside it. Null where the ' +
          'node leaves one out',
      ),
    feeWei: weiField().nullable(),
    gasUsed: gasField('Null while pending'),
    gasLimit: gasField('Null where the node leaves it out'),
    gasPriceWei: gasField('Paid per gas; what is offered while it is pending'),
    maxFeePerGasWei: gasField('Null for a transaction without it'),
    maxPriorityFeePerGasWei: gasField('Null for a transaction without it'),
    nonce: countField().nullable(),
    type: countField().nullable().describe('The number of its type, such as 2 for EIP-1559'),
    method: decodedSchema.nullable().describe('What it calls; null for a plain payment and a creation'),
    ...innerCallFields(),
    input: hexField().describe(`At most ${SHOWN_INPUT_BYTES / 1024} KB of it`),
    inputBytes: countField().describe('Length of the input'),
    events: z
      .array(eventSchema)
      .nullable()
      .describe(`The first ${KEPT.logs}, in order; null where the node has no receipt`),
    eventCount: countField().nullable().describe('Of all events'),
    failure: failureSchema.nullable().describe('Null unless the status is failed'),
    trades: z
      .array(walletTradeSchema)
      .nullable()
      .describe(
        `Of each wallet in it, pools included, as wallet_trades gives them; the first ${MAX_TRADES}. Null ` +
          'for tradesReason',
      ),
    tradesReason: z
      .string()
      .nullable()
      .describe('Why trades is null: its block is not indexed, or it is too large'),
  },
  example: {
    params: { tx: example.txHash },
    response: {
      txHash: example.txHash,
      status: 'succeeded',
      blockNumber: 4711,
      blockHash: example.blockHash,
      timestamp: example.time,
      from: example.wallet,
      to: example.token,
      createdContract: null,
      value: '0',
      valueWei: '0',
      fee: '0.00126',
      feeWei: '1260000000000000',
      gasUsed: '42000',
      gasLimit: '60000',
      gasPriceWei: '30000000000',
      maxFeePerGasWei: '45000000000',
      maxPriorityFeePerGasWei: '1000000000',
      nonce: 7,
      type: 2,
      method: {
        selector: '0xa9059cbb',
        name: 'transfer',
        signature: 'transfer(address,uint256)',
        args: [
          { name: 'to', type: 'address', value: example.other },
          { name: 'value', type: 'uint256', value: '2500000' },
        ],
      },
      calls: null,
      callsTruncated: false,
      input: `0xa9059cbb${example.other.slice(2).padStart(64, '0')}${(2_500_000).toString(16).padStart(64, '0')}`,
      inputBytes: 68,
      events: [
        {
          logIndex: 7,
          address: example.token,
          name: 'Transfer',
          signature: 'Transfer(address,address,uint256)',
          args: [
            { name: 'from', type: 'address', value: example.wallet },
            { name: 'to', type: 'address', value: example.other },
            { name: 'value', type: 'uint256', value: '2500000' },
          ],
          topics: [
            '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
            `0x${example.wallet.slice(2).padStart(64, '0')}`,
            `0x${example.other.slice(2).padStart(64, '0')}`,
          ],
          data: `0x${(2_500_000).toString(16).padStart(64, '0')}`,
          dataBytes: 32,
        },
      ],
      eventCount: 1,
      failure: null,
      trades: [{ wallet: example.wallet, ...exampleTrade, initiated: true }],
      tradesReason: null,
    },
  },
  askNode: ({ tx }, node) => node.transaction(tx).then((transaction) => ({ transaction })),
  prepare(source) {
    const signatures = source.signatures ?? new Signatures();
    const readBlock = prepareIndexedBlock(source.db);
    const tradesOf = prepareTrades(source);
    return ({ tx }, context) => {
      const found = context.nodeAnswer?.transaction;
      if (!found) throw new RequestError(404, 'not_found', `the node does not know transaction ${tx}`);
      const { block, input, logs, status } = found;
      const indexed = block === null ? undefined : readBlock(block.number);
      const timestamp = indexed?.hash === block?.hash ? indexed?.timestamp : found.timestamp;
      const isCall = found.to !== null && found.createdContract === null;
      const isWhole = input.hex.length === 2 + 2 * input.bytes;
      const decoded = isCall && isWhole ? signatures.decodeMethod(input.hex) : null;
      return {
        txHash: tx,
        status,
        blockNumber: block?.number ?? null,
        blockHash: block?.hash ?? null,
        timestamp: timestamp == null ? null : secondsToIso(timestamp),
        from: found.from,
        to: found.createdContract === null ? found.to : null,
        createdContract: found.createdContract,
        value: found.value && weiToCoin(found.value),
        valueWei: found.value,
        ...feesOf(found),
        nonce: found.nonce,
        type: found.type,
        method: isCall ? decodedRecord(input.hex, decoded) : null,
        ...innerCallRecords(found.to, decoded, signatures),
        input: cutHex(input.hex, SHOWN_INPUT_BYTES),
        inputBytes: input.bytes,
        events: logs && eventRecords(logs.first, signatures),
        eventCount: logs?.count ?? null,
        failure: status === 'failed' ? failureRecord(found.replay, signatures) : null,
        ...tradesOf(tx, found, context),
      };
    };
  },
});

function feesOf({ gasUsed, gasLimit, gasPrice, l1Fee, ...offered }: NodeTransaction) {
  const fee =
    gasUsed === null || gasPrice === null ? null : BigInt(gasUsed) * BigInt(gasPrice) + BigInt(l1Fee ?? 0);
  return {
    fee: fee === null ? null : weiToCoin(fee),
    feeWei: fee === null ? null : fee.toString(),
    gasUsed,
    gasLimit,
    gasPriceWei: gasPrice,
    maxFeePerGasWei: offered.maxFeePerGas,
    maxPriorityFeePerGasWei: offered.maxPriorityFeePerGas,
  };
}

interface TradesOfTransaction {
  trades: WalletTradeRecord[] | null;
  tradesReason: string | null;
}

function prepareTrades({ db, walletIds, nativeSymbol, tradeLists }: EndpointSource) {
  const idsAt = prepareTradeIds(db, walletIds, tradeLists);
  const readBlock = prepareIndexedBlock(db);
  const transfersOf = prepareTransferIdsOfTransaction(db);
  const tradesOf = prepareTransactionTrades(db);
  const recordsOf = prepareTradeRecords(db, nativeSymbol);
  const walletsById = prepareWalletsById(db);
  const without = (tradesReason: string): TradesOfTransaction => ({ trades: null, tradesReason });
  return (tx: `0x${string}`, { block, from }: NodeTransaction, { head, budget }: RequestContext) => {
    if (block === null) return without('it is not in a block yet');
    const indexed = readBlock(block.number);
    if (indexed === undefined)
      return without(
        block.number > head.number
          ? `block ${block.number} is not indexed yet`
          : `block ${block.number} is before the first indexed block ${head.startBlock}`,
      );
    if (indexed.hash !== block.hash)
      return without('its block is another one in the index: a reorg is in progress');
    const found = tradesOf(transfersOf(tx, indexed.transfers, budget), idsAt(head), budget);
    if (found === null) return without(`it has more than ${MAX_TRADE_ROWS} transfers`);
    const listed = found.slice(0, MAX_TRADES);
    const wallets = walletsById(listed.map(({ wallet }) => wallet));
    const trades = listed.flatMap(({ wallet, trade }, i): WalletTradeRecord[] => {
      const address = `0x${wallets[i]!.address}`;
      const initiated = from === null ? null : address === from;
      return recordsOf(wallet, [trade]).map((record) => ({ wallet: address, ...record, initiated }));
    });
    return { trades, tradesReason: null };
  };
}
