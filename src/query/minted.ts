/** What a token has minted and burned: its transfers from and to the zero address, from its history. */
import type { Db } from '../store/open-database.ts';
import { prepareTransfers } from '../store/read/transfers.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { prepareSummedForm } from './balance-history.ts';
import { prepareTokenHistoryIds } from './token-history.ts';
import { type TransactionRow, transactionRow } from './transaction-rows.ts';
import type { WorkBudget } from './work-budget.ts';

/** Most transfers of a token that are searched for mints: each costs a lookup in the largest table. */
export const MOST_SEARCHED = 10_000;

/** Transfers from a token's first one on, of any token, among which all its mints often are. */
const FIRST_TRANSFERS = 256;

interface Minted {
  minted: bigint;
  burned: bigint;
}

/** Null for a token with more than `most` transfers, unless all its mints and burns lie among the first ones. */
export function prepareMinted(
  db: Db,
  most = MOST_SEARCHED,
): (token: { id: number; transfers: number }, budget: WorkBudget) => Minted | null {
  const movesOfZero = db
    .prepare<[number], number>(`SELECT transfers FROM holdings WHERE token = +? AND wallet = ${ZERO_WALLET}`)
    .pluck();
  const firstOf = db.prepare<[number], number>('SELECT first_transfer FROM tokens WHERE id = +?').pluck();
  const transfers = prepareTransfers(db);
  const historyIds = prepareTokenHistoryIds(db);
  const formOf = prepareSummedForm(db);
  return ({ id: token, transfers: count }, budget) => {
    const wanted = movesOfZero.get(token) ?? 0;
    if (wanted === 0) return { minted: 0n, burned: 0n };
    const sum = (rows: readonly TransactionRow[]) => sumsOf(rows, formOf(token));
    const first = firstOf.get(token) ?? 0;
    budget.spend(FIRST_TRANSFERS);
    const early = transfers
      .range(first, first + FIRST_TRANSFERS)
      .filter((row) => row.token === token && (row.sender === ZERO_WALLET || row.receiver === ZERO_WALLET));
    if (early.length === wanted) return sum(early.map(transactionRow));
    if (count > most) return null;
    const whole = { from: 1, below: Number.MAX_SAFE_INTEGER };
    const filter = { ...whole, wallet: ZERO_WALLET, limit: wanted, maxEntries: Number.MAX_SAFE_INTEGER };
    const { ids } = historyIds(token, filter, budget);
    // The history of an index of an earlier release may not be whole yet.
    return ids.length === wanted ? sum(transfers.byId(ids).map(transactionRow)) : null;
  };
}

/** `form`: the only kind that counts, undefined for all. */
function sumsOf(rows: readonly TransactionRow[], form: number | undefined): Minted {
  const sums = { minted: 0n, burned: 0n };
  for (const { from, to, kind, amount } of rows) {
    if (from === to || kind !== (form ?? kind)) continue;
    if (from === ZERO_WALLET) sums.minted += amount;
    else sums.burned += amount;
  }
  return sums;
}
