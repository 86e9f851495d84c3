/** The JSON records of trades, and what their fields mean. */
import { z } from 'zod';
import { digitsToBigInt, type Hex } from '../lib/hex.ts';
import { secondsToIso } from '../lib/time.ts';
import { NATIVE_DECIMALS } from '../lib/units.ts';
import { movesOne, TransferKind, type ViewKind } from '../model/transfer-kind.ts';
import { type AssetAmount, NATIVE } from '../model/wallet-part.ts';
import { prepareTokensById } from '../query/tokens.ts';
import type { WalletTrade } from '../query/wallet-trades.ts';
import { addressField, blockField, countField, timeField, txHashField } from '../schemas/fields.ts';
import { prepareIsGap } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import { prepareBlocks } from '../store/read/blocks.ts';
import { prepareTransfers } from '../store/read/transfers.ts';
import { LISTED_IDS, movedIds } from '../trades/moved-ids.ts';
import { priceText } from '../trades/price.ts';
import { TRADE_KINDS } from '../trades/trade.ts';
import { EXAMPLE_COIN, example } from './fields.ts';

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
      .describe(`The first ${LISTED_IDS} ids of NFTs that moved on balance; null for other assets`),
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

export const tradeSchema = z
  .object({
    txHash: txHashField(),
    blockNumber: blockField(),
    blockHash: txHashField(),
    timestamp: timeField(),
    kind: z
      .enum(TRADE_KINDS)
      .describe(
        'buy: the native coin or a quote token was given for something else; sell: it was received; swap: neither or both sides are quotes; mixed: more than one asset on a side',
      ),
    given: z.array(legSchema),
    received: z.array(legSchema),
    fees: z.array(legSchema).describe('What went to EntryPoints and paymasters; no part of the trade'),
    tokenAddress: addressField()
      .nullable()
      .describe(
        'What was bought or sold, null for the native coin; of a mixed trade the one asset that is no quote. Null where there is none',
      ),
    quote: quoteSchema.nullable().describe('What a buy gave and a sell received; null for swap and mixed'),
    price: priceField('Price of the trade'),
    uncertain: z
      .boolean()
      .describe(
        'Whether transfers of its block are missing from the index, so that the trade may be another one',
      ),
    initiated: z
      .boolean()
      .nullable()
      .describe(
        'With initiated=true: whether the wallet sent the transaction; false for smart accounts and relayed trades too. Null while the node does not say, and without initiated=true',
      ),
  })
  .meta({ id: 'Trade' });

type TradeRecord = z.output<typeof tradeSchema>;
export type Leg = z.output<typeof legSchema>;

/** How an asset is shown. */
export interface AssetDisplay {
  tokenAddress: Hex | null;
  symbol: string | null;
  decimals: number | null;
}

/** Shows the assets of a list of ids in trades, by id. `isCollection`: whether amounts are counted in ERC-721 tokens. */
export function prepareAssetDisplays(
  db: Db,
  nativeSymbol: string,
): (tokens: Iterable<number>) => (token: number, isCollection: boolean) => AssetDisplay {
  const tokensById = prepareTokensById(db);
  const native = { tokenAddress: null, symbol: nativeSymbol, decimals: NATIVE_DECIMALS };
  return (tokens) => {
    const ids = [...new Set(tokens)].filter((token) => token !== NATIVE);
    const found = new Map(tokensById(ids).map((token) => [token.id, token]));
    return (token, isCollection) => {
      const row = found.get(token);
      if (row === undefined) return native;
      const { address, symbol } = row;
      return { tokenAddress: `0x${address}`, symbol, decimals: decimalsOf(row, isCollection) };
    };
  };
}

function decimalsOf(
  { decimals, viewKind }: { decimals: number | null; viewKind: ViewKind },
  isCollection: boolean,
): number | null {
  const form = isCollection ? TransferKind.erc721 : TransferKind.erc20;
  if (viewKind !== null && viewKind !== form) return null; // amounts are sums of ids, or numbers of transfers
  return isCollection ? 0 : decimals;
}

/** The records of a wallet's trades, in their order. */
export function prepareTradeRecords(
  db: Db,
  nativeSymbol: string,
): (wallet: number, trades: readonly WalletTrade[]) => TradeRecord[] {
  const displays = prepareAssetDisplays(db, nativeSymbol);
  const blocks = prepareBlocks(db);
  const transfers = prepareTransfers(db);
  const isGap = prepareIsGap(db);
  return (wallet, trades) => {
    const firsts = trades.map(({ first }) => first);
    const hashes = transfers.byId(firsts).map(({ txHash }) => txHash);
    const blocksOfTrades = blocks.of(firsts);
    const display = displays(trades.flatMap(({ rows }) => rows.map(({ token }) => token)));
    return trades.map(({ rows, part, trade }, i): TradeRecord => {
      const block = blocksOfTrades[i]!;
      const legs = (amounts: readonly AssetAmount[], sign: 1 | -1) =>
        amounts.map((amount) => legOf(amount, display, movedIds(amount, sign, wallet, rows)));
      const [given, received] = [legs(trade.given, -1), legs(trade.received, 1)];
      const [paid, got] = trade.kind === 'buy' ? [given[0], received[0]] : [received[0], given[0]];
      const isPriced = trade.quote !== null && paid !== undefined && got !== undefined;
      return {
        txHash: `0x${hashes[i]}`,
        blockNumber: block.number,
        blockHash: block.hash,
        timestamp: secondsToIso(block.timestamp),
        kind: trade.kind,
        given,
        received,
        fees: legs(part.fees(), -1),
        tokenAddress: trade.asset === null ? null : display(trade.asset.token, false).tokenAddress,
        quote: trade.quote === null ? null : display(trade.quote, false),
        price: isPriced ? priceText(amountOf(paid), amountOf(got)) : null,
        uncertain: isGap(block.number),
        initiated: null,
      };
    });
  };
}

function amountOf({ amount, decimals }: Leg) {
  return { amount: BigInt(amount), decimals };
}

/** A leg; `ids` are the digits of the NFTs in it. */
export function legOf(
  { kind, token, amount }: AssetAmount,
  display: (token: number, isCollection: boolean) => AssetDisplay,
  ids: string[] | null,
): Leg {
  const { tokenAddress, symbol, decimals } = display(token, movesOne(kind));
  return {
    tokenAddress,
    amount: amount.toString(),
    symbol,
    decimals,
    tokenIds: ids?.slice(0, LISTED_IDS).map((digits) => digitsToBigInt(digits).toString()) ?? null,
    count: ids?.length ?? null,
  };
}

const native = { tokenAddress: null, symbol: EXAMPLE_COIN, decimals: NATIVE_DECIMALS };

export const exampleQuote = native;

export const exampleLeg: Leg = { ...native, amount: '1500000000000000000', tokenIds: null, count: null };

export const exampleTrade: TradeRecord = {
  txHash: example.txHash,
  blockNumber: 4711,
  blockHash: example.blockHash,
  timestamp: example.time,
  kind: 'buy',
  given: [exampleLeg],
  received: [
    {
      tokenAddress: example.token,
      amount: '2500000',
      symbol: 'EXD',
      decimals: 6,
      tokenIds: null,
      count: null,
    },
  ],
  fees: [],
  tokenAddress: example.token,
  quote: native,
  price: '0.6',
  uncertain: false,
  initiated: null,
};
