/** A wallet's balance of an asset over time, from its history. */
import { bytesToBigInt, digitsToBigInt } from '../lib/hex.ts';
import { isNativeKind, movesOne } from '../model/transfer-kind.ts';
import { NATIVE } from '../model/wallet-part.ts';
import { sumsOwnForm } from '../store/index-rules.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { tokenInSql, unpackTransfer } from '../store/read/transfers.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { Reach } from './reach.ts';
import {
  directionOf,
  HistoryEnd,
  type HistoryEntry,
  prepareFirstOfTransaction,
  prepareHistoryReading,
} from './wallet-history-reading.ts';
import { prepareAssetBalance } from './wallet-profit.ts';
import { MAX_HISTORY_ROWS } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

interface BalanceHistory {
  /** The transfers that changed the balance, and the balance after each, oldest first. */
  points: { transfer: number; balance: bigint }[];
  /** The balance before the first transfer that was read. */
  before: bigint;
  /** The first transfer of the oldest transaction read, where the work limit ended the history; else null. */
  readFrom: number | null;
}

/** Bounds of a reading: entries of the history, and stretches of the chain (Reach) of those whose rows are read. */
const BOUNDS = { transfers: MAX_HISTORY_ROWS, stretches: 8_192 };

/** Units of work: of an entry, and of its row, 0.2 and 1 µs. */
const ENTRY_UNITS = 2;
const ROW_UNITS = 10;

/** The native coin alone: its equivalents are tokens of their own here. */
const NO_EQUIVALENTS = { nativeEquivalents: new Set<number>() };

/** The balances within a range of whole transactions. What followed the range is read too. */
export function prepareBalanceHistory(
  db: Db,
  { transfers, stretches } = BOUNDS,
): (wallet: number, token: number, range: IdRange, budget: WorkBudget) => BalanceHistory {
  const entriesOf = prepareHistoryReading(db, transfers);
  const firstOf = prepareFirstOfTransaction(db);
  const balanceOf = prepareAssetBalance(db);
  const amountsOf = prepareTokenAmounts(db);
  const transfersOf = db
    .prepare<[number, number], number>('SELECT transfers FROM holdings WHERE token = +? AND wallet = +?')
    .pluck();
  return (wallet, token, { from, below }, budget) => {
    const points: BalanceHistory['points'] = [];
    let balance = balanceOf(wallet, token, NO_EQUIVALENTS);
    const end = new HistoryEnd(firstOf);
    const reach = new Reach(stretches);
    /** Transfers of the token that are not read yet: before the oldest of them nothing changed the balance. */
    let left = token === NATIVE ? Number.POSITIVE_INFINITY : (transfersOf.get(token, wallet) ?? 0);
    let oldest = 0;
    for (const page of entriesOf(wallet, { from, below: Number.MAX_SAFE_INTEGER }, end, budget)) {
      if (left <= 0) break;
      budget.spend(ENTRY_UNITS * page.length);
      let entries = page.filter(
        ({ flags }) => isNativeKind(flags & HistoryFlag.kindMask) === (token === NATIVE),
      );
      if (token !== NATIVE && end.readFrom === null) {
        const reached = reach.within(entries.map(({ id }) => id).reverse());
        if (reach.isEnded) end.endAt(reached.at(-1) ?? oldest);
        const first = end.readFrom ?? 0;
        if (reach.isEnded) entries = entries.filter(({ id }) => id >= first);
      }
      oldest = entries[0]?.id ?? oldest;
      const amounts = token === NATIVE ? entries.map(weiOf) : amountsOf(token, entries, budget);
      for (let i = entries.length - 1; i >= 0; i--) {
        const amount = amounts[i]!;
        if (amount === null) continue;
        left--;
        const entry = entries[i]!;
        const direction = directionOf(entry);
        if (direction === 0 || amount === 0n) continue;
        if (entry.id < below) points.push({ transfer: entry.id, balance });
        balance -= direction > 0 ? amount : -amount;
      }
    }
    return { points: points.reverse(), before: balance, readFrom: left <= 0 ? null : end.readFrom };
  };
}

function weiOf({ bytes, amountStart, amountEnd }: HistoryEntry): bigint {
  return bytesToBigInt(bytes, amountStart, amountEnd);
}

/** By how much each of these entries moved a balance of the token; null for another token's. */
function prepareTokenAmounts(
  db: Db,
): (token: number, entries: readonly HistoryEntry[], budget: WorkBudget) => (bigint | null)[] {
  const formOf = prepareSummedForm(db);
  const values = db
    .prepare<[number, string], string>(/* sql */ `
      SELECT group_concat(iif(${tokenInSql('t')} = +?, t.token_kind || ' ' || hex(t.value), ''))
      FROM json_each(?) list LEFT JOIN transfers t ON t.id = list.value`)
    .pluck();
  return (token, entries, budget) => {
    if (entries.length === 0) return [];
    budget.spend(ROW_UNITS * entries.length);
    const form = formOf(token);
    const texts = values.get(token, idList(entries.map(({ id }) => id)))!.split(',');
    return texts.map((text) => {
      if (text === '') return null;
      const value = text.indexOf(' ') + 1;
      const packed = {
        id: 0,
        sender: 0,
        receiver: 0,
        tokenKind: Number(text.slice(0, value - 1)),
        log: null,
      };
      const { kind, amount } = unpackTransfer({ ...packed, value: text.slice(value) }, '', 0);
      if (form !== undefined && kind !== form) return 0n;
      return movesOne(kind) ? 1n : digitsToBigInt(amount);
    });
  };
}

/** The only kind whose transfers move balances of a token; undefined for the native coin, and where all kinds do. */
export function prepareSummedForm(db: Db): (token: number) => number | undefined {
  const formOf = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = +?').pluck();
  return (token) => (token === NATIVE || !sumsOwnForm(db) ? undefined : formOf.get(token));
}
