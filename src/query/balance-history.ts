/** A wallet's balance of an asset over time, from its history. */
import { balanceChange, NATIVE } from '../model/wallet-part.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import type { IdRange } from './blocks.ts';
import { prepareAssetBalance } from './wallet-profit.ts';
import { MAX_HISTORY_ROWS, prepareWalletTransactions } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

interface BalanceHistory {
  /** The first transfer of each transaction that changed the balance, and the balance after it, oldest first. */
  points: { transfer: number; balance: bigint }[];
  /** The balance before the first transaction that was read. */
  before: bigint;
  /** The first transfer of the oldest transaction read, where the work limit ended the history; else null. */
  readFrom: number | null;
}

/** The native coin alone: its equivalents are tokens of their own here. */
const NO_EQUIVALENTS = { nativeEquivalents: new Set<number>() };

/** The balances within a range of whole transactions. What followed the range is read too. */
export function prepareBalanceHistory(
  db: Db,
): (wallet: number, token: number, range: IdRange, budget: WorkBudget) => BalanceHistory {
  const transactionsOf = prepareWalletTransactions(db);
  const balanceOf = prepareAssetBalance(db);
  const formOf = prepareSummedForm(db);
  return (wallet, token, { from, below }, budget) => {
    const form = formOf(token);
    const points: BalanceHistory['points'] = [];
    let balance = balanceOf(wallet, token, NO_EQUIVALENTS);
    let read = 0;
    let readFrom: number | null = null;
    for (const transaction of transactionsOf(wallet, { from, below: Number.MAX_SAFE_INTEGER }, budget)) {
      const change = balanceChange(transaction.rows, wallet, token, form);
      if (change !== 0n && transaction.first < below) points.push({ transfer: transaction.first, balance });
      balance -= change;
      read += transaction.rows.length;
      if (read < MAX_HISTORY_ROWS) continue;
      readFrom = transaction.first;
      break;
    }
    return { points: points.reverse(), before: balance, readFrom };
  };
}

/** The only kind whose transfers move balances of a token; undefined for the native coin, and where all kinds do. */
export function prepareSummedForm(db: Db): (token: number) => number | undefined {
  const formOf = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = +?').pluck();
  return (token) => (token === NATIVE || !sumsOwnForm(db) ? undefined : formOf.get(token));
}
