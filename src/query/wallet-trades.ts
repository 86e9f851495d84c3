/** The trades of a wallet, from its history. */
import type { Db } from '../store/open-database.ts';
import { type Trade, tradeOf } from '../trades/trade.ts';
import { type TradeIds, TradePart } from '../trades/trade-part.ts';
import type { IdRange } from './blocks.ts';
import { PAGE_STRETCHES } from './reach.ts';
import { prepareWalletTrading } from './wallet-trading.ts';
import type { WalletTransaction } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** Bounds of a page: some 50 ms. */
const PAGE_BOUNDS = { transfers: 25_000, stretches: PAGE_STRETCHES };

/** A trade with the wallet's part and its transfers in the transaction. */
export interface WalletTrade extends WalletTransaction {
  part: TradePart;
  trade: Trade;
}

interface TradeFilter extends IdRange {
  /** Whether a trade is wanted. */
  isWanted: (trade: Trade) => boolean;
  limit: number;
}

interface TradePage {
  /** Newest first. */
  trades: WalletTrade[];
  /** Where the work limit ended the page: the rest of the history is below this id. Null where the history ended. */
  resumeBelow: number | null;
}

/** The newest trades of a wallet that pass the filter. The range begins and ends between transactions. */
export function prepareWalletTrades(
  db: Db,
): (wallet: number, filter: TradeFilter, ids: TradeIds, budget: WorkBudget) => TradePage {
  const tradesOf = prepareWalletTrading(db, tradeIn, PAGE_BOUNDS);
  return (wallet, filter, ids, budget) => {
    const trades: WalletTrade[] = [];
    const reading = tradesOf(wallet, filter, ids, budget);
    for (let next = reading.next(); ; next = reading.next()) {
      if (next.done) return { trades, resumeBelow: next.value };
      if (filter.isWanted(next.value.trade)) trades.push(next.value);
      if (trades.length === filter.limit) return { trades, resumeBelow: null };
    }
  };
}

/** The trade of a wallet in a transaction. */
export function tradeIn(transaction: WalletTransaction, wallet: number, ids: TradeIds): WalletTrade | null {
  if (transaction.rows.length < 2 || wallet === ids.zero) return null;
  const part = new TradePart(wallet, ids);
  for (const row of transaction.rows) part.add(row);
  const trade = tradeOf(part, ids);
  return trade && { ...transaction, part, trade };
}
