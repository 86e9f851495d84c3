/** The schema of a trade's record, for REST, streams and webhooks. */
import * as z from 'zod';
import { TRADE_KINDS } from '../model/trade-kind.ts';
import { addressField, blockField, countField, timeField, txHashField } from './fields.ts';

export function assetAddressField() {
  return addressField().nullable().describe('Null for the native coin, of which its equivalents are a part');
}

export function assetDecimalsField() {
  return z
    .int()
    .nullable()
    .describe(
      '0 for ERC-721, which is counted in tokens; null while unknown, and where logs mix up amounts and ids',
    );
}

export function priceField(what: string) {
  return z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .nullable()
    .describe(
      `${what}, in whole units of the quote per whole token, 18 significant digits, cut. Null without decimals`,
    );
}

export const legSchema = z
  .object({
    tokenAddress: assetAddressField(),
    amount: z
      .string()
      .regex(/^-?\d+$/)
      .describe(
        "Net amount in the asset's base units; ERC-721 in tokens. Below zero only in fees, for what came back",
      ),
    symbol: z.string().nullable(),
    decimals: assetDecimalsField(),
    tokenIds: z
      .array(z.string())
      .nullable()
      .describe('The first 20 ids of NFTs that moved on balance; null for other assets'),
    count: countField().nullable().describe('How many ids moved on balance; null for other assets'),
  })
  .meta({ id: 'TradeLeg' });

export const quoteSchema = z
  .object({
    tokenAddress: assetAddressField(),
    symbol: z.string().nullable(),
    decimals: assetDecimalsField(),
  })
  .meta({ id: 'TradeQuote' });

/** The members that only trades have. */
export const tradeShape = {
  kind: z
    .enum(TRADE_KINDS)
    .describe(
      'buy: the native coin or a quote token was given for something else; sell: it was received; swap: ' +
        'neither or both sides are quotes; mixed: more than one asset on a side',
    ),
  given: z.array(legSchema),
  received: z.array(legSchema),
  fees: z.array(legSchema).describe('What went to EntryPoints and paymasters; no part of the trade'),
  tokenAddress: addressField()
    .nullable()
    .describe(
      'What was bought or sold, null for the native coin; of a mixed trade the one asset that is no quote. ' +
        'Null where there is none',
    ),
  quote: quoteSchema.nullable().describe('What a buy gave and a sell received; null for swap and mixed'),
  price: priceField('Price of the trade'),
  uncertain: z
    .boolean()
    .describe(
      'Whether transfers of its block are missing from the index, so that the trade may be another one',
    ),
};

export const tradeSchema = z
  .object({
    txHash: txHashField(),
    blockNumber: blockField(),
    blockHash: txHashField(),
    timestamp: timeField(),
    ...tradeShape,
    initiated: z
      .boolean()
      .nullable()
      .describe(
        'With initiated=true: whether the wallet sent the transaction; false for smart accounts and relayed ' +
          'trades too. Null while the node does not say, and without initiated=true',
      ),
  })
  .meta({ id: 'Trade' });
