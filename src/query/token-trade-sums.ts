/** What wallets bought and sold of one token, from their histories. */

import type { PartTransfer } from '../model/wallet-part.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import type { TradingTransaction } from '../store/read/transaction-parts.ts';
import { addToSums, emptySums, type TradeSums } from '../trades/profit.ts';
import { type SummedTrade, summedTrade, tradeOf } from '../trades/trade.ts';
import { type TradeIds, TradePart } from '../trades/trade-part.ts';
import { MAX_HISTORY_ROWS } from './reach.ts';
import type { Head } from './snapshot.ts';
import { prepareTokenHistoryEnd } from './token-history.ts';
import { prepareTokenTransactions } from './token-transactions.ts';
import { prepareGapsOfTransfers } from './wallet-profit.ts';
import { prepareWalletTransactions } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** A wallet's trades of the token. */
export interface TokenTradeSums {
  /** Against the quote. */
  sums: TradeSums;
  /** Over all quotes. */
  sold: bigint;
}

export interface TradedToken {
  /** tokens.id. */
  token: number;
  /** Its number of transfers. */
  transfers: number;
  /** NATIVE or a token's id. */
  quote: number;
}

interface TradeSumsOfWallets {
  of: ReadonlyMap<number, TokenTradeSums>;
  /** The first transfer of the oldest transaction of a history that was not read to its end, else null. */
  readFrom: number | null;
}

interface FoundTrade {
  wallet: number;
  first: number;
  trade: SummedTrade;
}

interface TradeReading {
  trades: FoundTrade[];
  readFrom: number | null;
}

/**
 * Reads the token's history for all wallets, or the history of each, whichever is shorter: the newest `most` transfers.
 */
export function prepareTokenTradeSums(
  db: Db,
  most = MAX_HISTORY_ROWS,
): (
  traded: TradedToken,
  wallets: readonly number[],
  ids: TradeIds,
  head: Head,
  budget: WorkBudget,
) => TradeSumsOfWallets {
  const sizesOf = prepareHistorySizes(db);
  const historyEnd = prepareTokenHistoryEnd(db);
  const ofToken = prepareTradesInToken(db, most);
  const ofWallets = prepareTradesOfWallets(db, most);
  const gapsOf = prepareGapsOfTransfers(db);
  return ({ token, transfers, quote }, wallets, ids, head, budget) => {
    const sizes = sizesOf(wallets);
    const total = sizes.reduce((sum, { transfers }) => sum + transfers, 0);
    const isWhole = historyEnd().block === head.number;
    const { trades, readFrom } =
      isWhole && transfers < total
        ? ofToken(token, new Set(wallets), ids, budget)
        : ofWallets(token, sizes, ids, budget);
    const gaps = gapsOf([...new Set(trades.map(({ first }) => first))].sort(ascending), head);
    const of = new Map(wallets.map((wallet) => [wallet, { sums: emptySums(), sold: 0n }]));
    for (const { wallet, first, trade } of trades) {
      const found = of.get(wallet);
      if (found === undefined || gaps.has(first)) continue;
      if (trade.quote === quote) addToSums(found.sums, trade);
      if (!trade.isBuy) found.sold += trade.amount;
    }
    return { of, readFrom };
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

interface HistorySize {
  wallet: number;
  transfers: number;
}

function prepareHistorySizes(db: Db): (wallets: readonly number[]) => HistorySize[] {
  const statement = db.prepare<[string], HistorySize>(
    'SELECT w.id AS wallet, w.transfers FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value',
  );
  return (wallets) => statement.all(idList(wallets));
}

/** Goes through the transactions of the token once. */
function prepareTradesInToken(
  db: Db,
  most: number,
): (token: number, wallets: ReadonlySet<number>, ids: TradeIds, budget: WorkBudget) => TradeReading {
  const told = ({ first, transfers }: TradingTransaction) => ({ first, transfers, rows: transfers.length });
  const transactionsIn = prepareTokenTransactions(db, told, { transfers: most });
  return (token, wallets, ids, budget) => {
    const whole = { from: 1, below: Number.MAX_SAFE_INTEGER, others: null };
    const reading = transactionsIn(token, whole, ids, budget);
    const trades: FoundTrade[] = [];
    for (let next = reading.next(); ; next = reading.next()) {
      if (next.done) return { trades, readFrom: next.value };
      const { first, transfers } = next.value;
      trades.push(...tradesIn(first, transfers, token, wallets, ids));
    }
  };
}

/** Goes through the histories of the wallets, the shortest first, so that a long one keeps none of the others out. */
function prepareTradesOfWallets(
  db: Db,
  most: number,
): (token: number, sizes: readonly HistorySize[], ids: TradeIds, budget: WorkBudget) => TradeReading {
  const transactionsOf = prepareWalletTransactions(db);
  const whole = { from: 1, below: Number.MAX_SAFE_INTEGER };
  return (token, sizes, ids, budget) => {
    const trades: FoundTrade[] = [];
    let left = most;
    let readFrom: number | null = null;
    for (const [i, { wallet }] of sizes.toSorted((a, b) => a.transfers - b.transfers).entries()) {
      const wallets = new Set([wallet]);
      let own = Math.ceil(left / (sizes.length - i));
      let last = 0;
      for (const { first, rows } of transactionsOf(wallet, whole, budget)) {
        if (own <= 0) {
          readFrom = Math.max(readFrom ?? 0, last);
          break;
        }
        own -= rows.length;
        left -= rows.length;
        last = first;
        if (rows.some((row) => row.token === token))
          trades.push(...tradesIn(first, rows, token, wallets, ids));
      }
    }
    return { trades, readFrom };
  };
}

/** The buys and sales of the token that wallets made in a transaction. `rows` are at least all of these wallets. */
function tradesIn(
  first: number,
  rows: readonly PartTransfer[],
  token: number,
  wallets: ReadonlySet<number>,
  ids: TradeIds,
): FoundTrade[] {
  const parts = new Map<number, TradePart>();
  for (const row of rows)
    for (const wallet of row.from === row.to ? [] : [row.from, row.to]) {
      if (!wallets.has(wallet)) continue;
      const part = parts.get(wallet) ?? new TradePart(wallet, ids);
      parts.set(wallet, part);
      part.add(row);
    }
  const trades: FoundTrade[] = [];
  for (const [wallet, part] of parts) {
    const trade = tradeOf(part, ids);
    const summed = trade && summedTrade(trade);
    if (summed !== null && summed.token === token) trades.push({ wallet, first, trade: summed });
  }
  return trades;
}
