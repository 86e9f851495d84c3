/** The records of streams and webhooks. */
import * as z from 'zod';
import { MARK_PATTERN } from '../model/rewrites.ts';
import { BLOCK_PATTERN, MAX_ADDRESSES } from '../model/stream-filters.ts';
import { TOKEN_KIND_NAMES } from '../model/transfer-kind.ts';
import { MAX_LISTED_ASSETS } from '../model/wallet-part.ts';
import { addressField, coinField, timeField, txHashField, unitsField, weiField } from './fields.ts';
import { addressIn, hashIn } from './stream-filters.ts';
import { assetDecimalsField, tradeShape } from './trades.ts';
import { transferShape } from './transfers.ts';

const removed = z
  .literal(true)
  .optional()
  .describe(
    'A reorg removed the block of this event. The record repeats the key of the event that it reverts',
  );

const rewrites = z
  .string()
  .regex(MARK_PATTERN)
  .optional()
  .describe(
    'Only if a repair of the index has read the block of this event again: names the repair. lastSeen takes ' +
      'it beside the block',
  );

export const walletTransferSchema = z
  .object({
    ...transferShape('transfer'),
    assetType: z.enum(['native', ...TOKEN_KIND_NAMES]),
    removed,
    rewrites,
  })
  .meta({ id: 'WalletTransfer' });

/** Sent to subscriptions with `progress`. */
export const progressSchema = z
  .object({
    progress: z.object({
      blockNumber: z.int().min(0),
      blockHash: txHashField(),
      live: z.boolean().describe('False during a replay'),
      rewrites,
    }),
  })
  .meta({ id: 'Progress' });

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
  ...transferShape('signal'),
  wallet: addressField(),
  amount: unitsField().nullable().describe('Null for native transfers'),
  valueWei: weiField().nullable().describe('Null for token transfers'),
  value_mon: coinField().nullable().describe('Null for token transfers'),
  chainId: z.int(),
  txFrom: addressField().nullable().describe('Sender of the transaction; null if unknown, for txFromReason'),
  txTo: addressField().nullable().describe('Receiver of the transaction, or the contract it created'),
  txFromReason: z
    .string()
    .nullable()
    .describe('Why txFrom and txTo are null: the node lacks the transaction, or has not answered for 15 s'),
  initiated: z
    .boolean()
    .nullable()
    .describe(
      'Whether the wallet sent the transaction (txFrom): anyone can log transfers in its name. False for ' +
        'smart accounts ' +
        'and relayed transactions too. Null where txFrom is',
    ),
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
  funding_age: z.string().describe('funding_age_ms for people, such as 2m 5s'),
  removed,
  rewrites,
};

const exchange = {
  paid: z
    .array(paymentSchema)
    .max(MAX_LISTED_ASSETS)
    .nullable()
    .describe(
      'What the wallet gave on balance in the whole transaction, per asset: a refund is subtracted. The same in each ' +
        'event of the wallet in the transaction. Null if unknown, for paidReason',
    ),
  received: z
    .array(paymentSchema)
    .max(MAX_LISTED_ASSETS)
    .nullable()
    .describe('What the wallet received on balance, likewise'),
  paidCount: z
    .int()
    .nullable()
    .describe(
      `Number of assets in paid; above ${MAX_LISTED_ASSETS}, the first ${MAX_LISTED_ASSETS} are listed`,
    ),
  receivedCount: z.int().nullable().describe('Number of assets in received, likewise'),
  paidReason: z
    .string()
    .nullable()
    .describe(
      'Why paid and received are null: the block was indexed without traces, or the logs of a token hold ids in ' +
        'place of amounts or amounts in place of ids',
    ),
};

const sideCount = (side: string) =>
  z
    .int()
    .min(1)
    .describe(
      `Number of assets in ${side}; above ${MAX_LISTED_ASSETS}, the first ${MAX_LISTED_ASSETS} are listed`,
    );

/** One event per trade, at the wallet's last event in the transaction. */
const trade = {
  ...signal,
  ...tradeShape,
  tokenId: z
    .string()
    .nullable()
    .describe('The id of an ERC-1155 token that was traded; null for other assets'),
  symbol: z
    .string()
    .nullable()
    .describe('Of what was bought or sold; null where there is none, and while unknown'),
  decimals: assetDecimalsField(),
  amount: unitsField()
    .nullable()
    .describe('How much was bought or sold; null for the native coin, and where neither'),
  valueWei: weiField().nullable().describe('How much of the native coin was bought or sold; else null'),
  value_mon: coinField().nullable().describe('The same in coins'),
  givenCount: sideCount('given'),
  receivedCount: sideCount('received'),
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
    z
      .object({
        event: z.literal('token_created'),
        ...signal,
        creator: addressField().nullable().describe('The sender of the transaction; null where txFrom is'),
      })
      .meta({
        id: 'TokenCreated',
        description: 'The first indexed transfer of a token. wallet is its receiver',
      }),
    z.object({ event: z.literal('wallet_trade'), ...trade }).meta({
      id: 'WalletTrade',
      description:
        'What the wallet bought, sold or swapped in a transaction, as in wallet_trades. id, eventIndex, logIndex, ' +
        'transferType, from, to and direction are those of its last transfer there',
    }),
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
    blockId: txHashField().optional().describe('In chainLogs and monadLogs on Monad'),
    commitState: z.string().optional().describe('In chainLogs and monadLogs on Monad'),
  })
  .meta({ id: 'Log' });

/** One value, or several of which one must match; an empty list and null match anything. */
function choiceIn<T extends z.ZodType>(item: T) {
  return z.union([item, z.array(item).max(MAX_ADDRESSES)]).nullable();
}

/** A null among the alternatives of a topic matches anything too. */
const topicFilter = z
  .array(choiceIn(z.union([hashIn(), z.null()])))
  .max(4)
  .nullable();

const blockBound = () =>
  z
    .union([z.string().regex(BLOCK_PATTERN), z.enum(['latest', 'earliest', 'pending'])])
    .nullable()
    .optional()
    .describe('Only logs of later blocks come, so the names of the head and of the genesis set no bound');

const logFilter = {
  address: choiceIn(addressIn()).optional(),
  topics: topicFilter.optional(),
  fromBlock: blockBound(),
  toBlock: blockBound(),
  blockHash: z.null().optional().describe('Past logs are those of eth_getLogs'),
};

export const logFilterSchema = z.strictObject(logFilter).meta({ id: 'LogFilter' });

export const chainLogFilterSchema = z
  .strictObject({
    ...logFilter,
    commitStates: z
      .boolean()
      .nullable()
      .default(false)
      .describe('Send every state change, not each log once'),
  })
  .meta({ id: 'ChainLogFilter' });
