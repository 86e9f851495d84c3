/** The trades of a wallet, from its history. */
import type { Db } from '../store/open-database.ts';
import { type Trade, tradeOf } from '../trades/trade.ts';
import { type TradeIds, TradePart } from '../trades/trade-part.ts';
import type { IdRange } from './blocks.ts';
import {
  MAX_HISTORY_ROWS,
  prepareWalletTransactions,
  type WalletTransaction,
} from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

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
  const transactionsOf = prepareWalletTransactions(db);
  return (wallet, filter, ids, budget) => {
    const trades: WalletTrade[] = [];
    let read = 0;
    for (const transaction of transactionsOf(wallet, filter, budget)) {
      const found = tradeIn(transaction, wallet, ids);
      if (found !== null && filter.isWanted(found.trade)) trades.push(found);
      if (trades.length === filter.limit) break;
      read += transaction.rows.length;
      if (read >= MAX_HISTORY_ROWS) return { trades, resumeBelow: transaction.first };
    }
    return { trades, resumeBelow: null };
  };
}

function tradeIn(transaction: WalletTransaction, wallet: number, ids: TradeIds): WalletTrade | null {
  if (transaction.rows.length < 2 || wallet === ids.zero) return null;
  const part = new TradePart(wallet, ids);
  for (const row of transaction.rows) part.add(row);
  const trade = tradeOf(part, ids);
  return trade && { ...transaction, part, trade };
}
