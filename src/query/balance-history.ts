/** A wallet's balance of an asset over time, from its history. */
import { isNativeKind } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import type { IdRange } from './blocks.ts';
import { prepareAssetBalance } from './wallet-profit.ts';
import {
  MAX_HISTORY_ROWS,
  prepareWalletTransactions,
  type WalletTransaction,
} from './wallet-transactions.ts';
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
  const formOf = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = +?').pluck();
  return (wallet, token, { from, below }, budget) => {
    const form = token === NATIVE || !sumsOwnForm(db) ? undefined : formOf.get(token);
    const points: BalanceHistory['points'] = [];
    let balance = balanceOf(wallet, token, NO_EQUIVALENTS);
    let read = 0;
    let readFrom: number | null = null;
    for (const transaction of transactionsOf(wallet, { from, below: Number.MAX_SAFE_INTEGER }, budget)) {
      const change = changeOf(transaction, wallet, token, form);
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

/** By how much the transfers of an asset changed the balance; `form`: the only kind that counts, undefined for all. */
function changeOf(
  { rows }: WalletTransaction,
  wallet: number,
  token: number,
  form: number | undefined,
): bigint {
  let change = 0n;
  for (const row of rows) {
    const isAsset = token === NATIVE ? isNativeKind(row.kind) : row.token === token;
    if (!isAsset || row.from === row.to || (form !== undefined && row.kind !== form)) continue;
    change += row.to === wallet ? row.amount : -row.amount;
  }
  return change;
}
