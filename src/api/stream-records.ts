/** The records of streams and webhooks, and the filters that select them. */
import { z } from 'zod';
import { ADDRESS_PATTERN } from '../model/address.ts';
import { TOKEN_KIND_NAMES } from '../model/transfer-kind.ts';
import {
  addressField,
  blockField,
  coinField,
  eventIndexField,
  kindField,
  timeField,
  txHashField,
  unitsField,
  weiField,
} from './fields.ts';
import { transferSchema } from './transfer-record.ts';

/** Most assets listed on each side of an exchange (streams/transfers/transaction-part.ts). */
const MAX_PAYMENTS = 100;

const removed = z
  .literal(true)
  .optional()
  .describe(
    'A reorg removed the block of this event. The record repeats the key of the event that it reverts',
  );

export const walletTransferSchema = transferSchema
  .extend({
    blockHash: txHashField(),
    assetType: z.enum(['native', ...TOKEN_KIND_NAMES]),
    removed,
  })
  .meta({ id: 'WalletTransfer' });

const symbol = z.string().nullable().describe('Null while unknown');
const decimals = z.int().nullable().describe('Null while unknown, and for tokens without decimals');

const paymentSchema = z
  .object({
    tokenAddress: addressField().nullable().describe('Null for the native coin'),
    tokenId: z.string().nullable().describe('The id of an ERC-1155 token; null for other assets'),
    amount: unitsField().describe('Base units; of an ERC-721 collection the number of tokens'),
    symbol,
    decimals,
  })
  .meta({ id: 'Payment' });

const signal = {
  id: z.int().describe('Page cursor, not a key: after a reorg another transfer may get the same id'),
  direction: z.enum(['in', 'out']),
  wallet: addressField(),
  from: addressField(),
  to: addressField(),
  tokenAddress: addressField().nullable().describe('Null for native transfers'),
  tokenId: z.string().nullable(),
  symbol,
  decimals,
  amount: unitsField().nullable().describe('Null for native transfers'),
  valueWei: weiField().nullable().describe('Null for token transfers'),
  value_mon: coinField().nullable().describe('Null for token transfers'),
  txHash: txHashField(),
  blockNumber: blockField(),
  blockHash: txHashField(),
  logIndex: z.int().nullable(),
  eventIndex: eventIndexField(),
  timestamp: timeField(),
  transferType: kindField(),
  chainId: z.int(),
  txFrom: addressField().nullable().describe('Sender of the transaction; null if unknown, for txFromReason'),
  txTo: addressField().nullable().describe('Receiver of the transaction, or the contract it created'),
  txFromReason: z
    .string()
    .nullable()
    .describe('Why txFrom and txTo are null: the node lacks the transaction, or has not answered for 15 s'),
  leg: z
    .int()
    .min(1)
    .nullable()
    .describe(
      'Position among the events of the wallet in the transaction; null if the transfer is none of them, because ' +
        'it moves nothing and only creates the wallet',
    ),
  legs: z.int().min(1).nullable().describe('Number of these events; the last one has leg equal to legs'),
  received_at: timeField().describe('Time of the push'),
  received_at_ms: z.int(),
  funding_age_ms: z.int().min(0).describe('Age of the block at the time of the push'),
  funding_age: z.string().describe('Human-readable blockAge, such as 2m 5s'),
  removed,
};

const exchange = {
  paid: z
    .array(paymentSchema)
    .max(MAX_PAYMENTS)
    .nullable()
    .describe(
      'What the wallet gave on balance in the whole transaction, per asset: a refund is subtracted. The same in each ' +
        'event of the wallet in the transaction. Null if unknown, for paidReason',
    ),
  received: z
    .array(paymentSchema)
    .max(MAX_PAYMENTS)
    .nullable()
    .describe('What the wallet received on balance, likewise'),
  paidCount: z
    .int()
    .nullable()
    .describe(`Number of assets in paid; above ${MAX_PAYMENTS}, the first ${MAX_PAYMENTS} are listed`),
  receivedCount: z.int().nullable().describe('Number of assets in received, likewise'),
  paidReason: z
    .string()
    .nullable()
    .describe('Why paid and received are null: the block was indexed without traces'),
};

export const signalSchema = z
  .discriminatedUnion('event', [
    z.object({ event: z.literal('wallet_funded'), ...signal }).meta({ id: 'WalletFunded' }),
    z.object({ event: z.literal('wallet_native_out'), ...signal }).meta({ id: 'WalletNativeOut' }),
    z
      .object({
        event: z.literal('wallet_token_buy'),
        ...signal,
        ...exchange,
        isMint: z.boolean(),
      })
      .meta({ id: 'WalletTokenBuy' }),
    z
      .object({
        event: z.literal('wallet_token_sell'),
        ...signal,
        ...exchange,
        isBurn: z.boolean(),
      })
      .meta({ id: 'WalletTokenSell' }),
    z.object({ event: z.literal('whale_transfer'), ...signal }).meta({ id: 'WhaleTransferEvent' }),
    z
      .object({
        event: z.literal('wallet_created'),
        ...signal,
        funder: addressField().nullable().describe('Null unless the first transfer is native'),
      })
      .meta({ id: 'WalletCreated' }),
  ])
  .meta({ id: 'Signal' });

export type Signal = z.output<typeof signalSchema>;

const deliverySchema = z
  .intersection(
    signalSchema,
    z.object({
      deliveryId: z.string().describe('Stable: drop deliveries whose id you already know'),
      withdraws: z.string().optional().describe('deliveryId of the event that this one reverts'),
    }),
  )
  .meta({ id: 'Delivery' });

export type Delivery = z.output<typeof deliverySchema>;

export const hookMessageSchema = z
  .object({
    hook: z.int().describe('Id of the hook'),
    deliveries: z.array(deliverySchema).max(100).describe('Empty in a test'),
    test: z.literal(true).optional().describe('The operator is testing the hook'),
  })
  .meta({ id: 'HookMessage' });

export type HookMessage = z.output<typeof hookMessageSchema>;

const addressIn = () => z.string().regex(ADDRESS_PATTERN);
const blockIn = () =>
  z
    .union([z.int().min(0), z.string().regex(/^0x[0-9a-f]+$/i), z.literal('earliest')])
    .describe('A block number, or a quantity such as 0x1b4');

const start = {
  fromBlock: blockIn()
    .optional()
    .describe('Replays the indexed transfers from this block on; without it, only new transfers are sent'),
  lastSeen: z
    .strictObject({ blockNumber: blockIn(), blockHash: z.string().regex(/^0x[0-9a-fA-F]{64}$/) })
    .optional()
    .describe('Block of the last event before a reconnect; events reverted since then are sent first'),
};

const MAX_ADDRESSES = 1_000;

export const walletFilterSchema = z
  .strictObject({
    address: addressIn().optional(),
    addresses: z.array(addressIn()).max(MAX_ADDRESSES).optional().describe('In place of address'),
    direction: z.enum(['in', 'out', 'both']).default('both'),
    includeNative: z.boolean().default(true),
    includeTokens: z.boolean().default(true),
    ...start,
  })
  .meta({ id: 'WalletFilter' });

export const signalFilterSchema = z
  .strictObject({
    wallets: z
      .union([z.array(addressIn()).max(MAX_ADDRESSES), z.string().regex(/^list:/)])
      .optional()
      .describe('Empty or absent means all. "list:NAME" names a stored list'),
    tokens: z.array(addressIn()).max(MAX_ADDRESSES).optional().describe('Empty or absent means all'),
    events: z
      .array(
        z.enum([
          'wallet_funded',
          'wallet_native_out',
          'wallet_token_buy',
          'wallet_token_sell',
          'whale_transfer',
          'wallet_created',
        ]),
      )
      .optional()
      .describe('Empty or absent means the first four'),
    minMon: z
      .union([z.string().regex(/^\d+(\.\d+)?$/), z.number().min(0)])
      .optional()
      .describe('Smallest native amount, in whole coins; required by whale_transfer'),
    minAmount: z
      .record(addressIn(), z.string().regex(/^\d+$/))
      .optional()
      .describe('Smallest amount by token, in its base units'),
    excludeMints: z.boolean().default(false),
    purchasesOnly: z
      .boolean()
      .default(false)
      .describe(
        'Only buys of an asset that the wallet gained on balance in the transaction against something that it gave on ' +
          'balance. Where it is unknown what it gave (paidReason), the buy passes',
      ),
    ...start,
  })
  .meta({ id: 'SignalFilter' });

export type SignalFilter = z.input<typeof signalFilterSchema>;

const quantity = () => z.string().regex(/^0x[0-9a-f]+$/);

/** Passed through from the node with all its fields. */
export const headSchema = z
  .looseObject({ number: quantity(), hash: txHashField(), parentHash: txHashField(), timestamp: quantity() })
  .meta({ id: 'BlockHeader' });

export const logSchema = z
  .looseObject({
    address: addressField(),
    topics: z.array(txHashField()),
    data: z.string(),
    blockNumber: quantity(),
    blockHash: txHashField(),
    transactionHash: txHashField(),
    transactionIndex: quantity(),
    logIndex: quantity(),
    removed: z.boolean().optional(),
    blockId: txHashField().optional().describe('In chainLogs on Monad'),
    commitState: z.string().optional().describe('In chainLogs on Monad'),
  })
  .meta({ id: 'Log' });

const topicFilter = z.array(z.union([txHashField(), z.array(txHashField()), z.null()])).max(4);

const logFilter = {
  address: z.union([addressIn(), z.array(addressIn())]).optional(),
  topics: topicFilter.optional(),
};

export const logFilterSchema = z.strictObject(logFilter).meta({ id: 'LogFilter' });

export const chainLogFilterSchema = z
  .strictObject({
    ...logFilter,
    commitStates: z.boolean().default(false).describe('Send every state change, not each log once'),
  })
  .meta({ id: 'ChainLogFilter' });
