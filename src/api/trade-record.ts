/** The JSON records of trades in answers. */
import type * as z from 'zod';
import { secondsToIso } from '../lib/time.ts';
import { NATIVE_DECIMALS } from '../lib/units.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { prepareTokensById } from '../query/tokens.ts';
import type { WalletTrade } from '../query/wallet-trades.ts';
import type { tradeSchema } from '../schemas/trades.ts';
import { prepareIsGap } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import { prepareBlocks } from '../store/read/blocks.ts';
import { prepareTransfers } from '../store/read/transfers.ts';
import { movedIdsOf } from '../trades/moved-ids.ts';
import {
  type AssetDisplay,
  assetDecimals,
  type LegRecord,
  tellTrade,
  tradeMembers,
} from '../trades/trade-record.ts';
import { EXAMPLE_COIN, example } from './fields.ts';

export {
  assetAddressField,
  assetDecimalsField,
  legSchema,
  priceField,
  quoteSchema,
  tradeSchema,
} from '../schemas/trades.ts';

type TradeRecord = z.output<typeof tradeSchema>;

/**
 * Shows the assets of a list of ids in trades, by id. `isCollection`: whether amounts are counted in ERC-721 tokens.
 */
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
      return { tokenAddress: `0x${address}`, symbol, decimals: assetDecimals(row, isCollection) };
    };
  };
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
      const moved = movedIdsOf(wallet, rows);
      return {
        txHash: `0x${hashes[i]}`,
        blockNumber: block.number,
        blockHash: block.hash,
        timestamp: secondsToIso(block.timestamp),
        ...tradeMembers(tellTrade(trade, part, moved), display),
        uncertain: isGap(block.number),
        initiated: null,
      };
    });
  };
}

const native = { tokenAddress: null, symbol: EXAMPLE_COIN, decimals: NATIVE_DECIMALS };

export const exampleQuote = native;

export const exampleLeg: LegRecord = {
  ...native,
  amount: '1500000000000000000',
  tokenIds: null,
  count: null,
};

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
