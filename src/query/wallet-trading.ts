/**
 * A wallet's transactions that may hold trades of it, from its history. The entries tell who gave and who got, so only
 * those are looked up that may share a transaction with one of the other direction.
 */
import { isSemiFungible } from '../model/transfer-kind.ts';
import { blockEndSql } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { unpackTransfer } from '../store/read/transfers.ts';
import { kindOf } from '../store/schema.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import type { IdRange } from './blocks.ts';
import { READING_BOUNDS, type ReadFrom, type ReadingBounds } from './reach.ts';
import { type KnownTransactions, knownBetween, type PlacedTransaction } from './token-transactions.ts';
import { transactionRow } from './transaction-rows.ts';
import {
  directionOf,
  HistoryEnd,
  type HistoryEntry,
  prepareFirstOfTransaction,
  prepareHistoryReading,
} from './wallet-history-reading.ts';
import type { WalletTransaction } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** Units of work for a row: 1 to 2 µs. */
const ROW_UNITS = 15;

/** Transfers this close may be of one transaction; of others it is looked up whether they are of one block. */
const NEAR = 64;

/** The first transfer of an entry's transaction, and its packed columns. */
interface EntryRow {
  first: number;
  tokenKind: number;
  value: string;
}

interface OpenTransaction {
  first: number;
  /** Oldest first. */
  entries: HistoryEntry[];
  rows: EntryRow[];
}

/**
 * The transactions of a wallet within a range of whole ones in which `tell` finds something, newest first, as far as
 * the bounds allow. Those that are known count like the others but are not read.
 */
export function prepareWalletTrading<T extends PlacedTransaction>(
  db: Db,
  tell: (transaction: WalletTransaction, wallet: number, ids: TradeIds) => T | null,
  bounds: Partial<ReadingBounds> = {},
): (
  wallet: number,
  range: IdRange,
  ids: TradeIds,
  budget: WorkBudget,
  known?: KnownTransactions<T> | null,
) => Generator<T, ReadFrom, void> {
  const { transfers: most, stretches } = { ...READING_BOUNDS, ...bounds };
  const entriesOf = prepareHistoryReading(db, most);
  const firstOf = prepareFirstOfTransaction(db);
  const mixedAmong = prepareMixedRuns(db);
  const rowsOf = prepareEntryRows(db);

  return function* (wallet, range, tradeIds, budget, known = null) {
    const end = new HistoryEnd(firstOf, stretches);
    /** The oldest transaction so far: it may begin on the page before. */
    let open: OpenTransaction | null = null;
    let knownBelow = known?.below ?? 0;
    function* close(): Generator<T> {
      const told =
        open === null ? null : tellTransaction(open, wallet, (each) => tell(each, wallet, tradeIds));
      open = null;
      if (told !== null) yield told;
    }
    function* read(entries: readonly HistoryEntry[]): Generator<T> {
      budget.spend(ROW_UNITS * entries.length);
      for (const found of byTransaction(entries, rowsOf(entries)).reverse()) {
        if (open !== null && open.first === found.first) {
          open.entries.unshift(...found.entries);
          open.rows.unshift(...found.rows);
          continue;
        }
        yield* close();
        open = found;
      }
    }
    for (const page of entriesOf(wallet, range, end, budget)) {
      const mixed = mixedAmong(page);
      const first = end.within(mixed.map(({ id }) => id));
      const wanted = mixed.filter(({ id }) => id >= first);
      yield* read(known === null ? wanted : wanted.filter(({ id }) => id >= known.below));
      const start = page[0]?.id ?? knownBelow;
      if (known === null || start >= known.below) continue;
      yield* close();
      const from = Math.max(start, known.from, end.readFrom ?? 0);
      yield* knownBetween(known, from, knownBelow);
      knownBelow = from;
      yield* read(wanted.filter(({ id }) => id < known.from));
    }
    yield* close();
    if (known !== null)
      yield* knownBetween(known, Math.max(end.readFrom ?? range.from, known.from), knownBelow);
    return end.readFrom;
  };
}

/** What is told of a transaction in which the wallet gave and got something, and moved two assets; else null. */
function tellTransaction<T>(
  { first, entries, rows }: OpenTransaction,
  wallet: number,
  tell: (transaction: WalletTransaction) => T | null,
): T | null {
  if (!hasBothDirections(entries, 0, entries.length)) return null;
  const [{ tokenKind }] = rows as [EntryRow];
  if (rows.every((row) => row.tokenKind === tokenKind) && !isSemiFungible(kindOf(tokenKind))) return null;
  const told = entries.map(({ id, flags, other }, i) => {
    const { tokenKind, value } = rows[i]!;
    const [sender, receiver] = (flags & HistoryFlag.out) === 0 ? [other, wallet] : [wallet, other];
    const packed = { id, sender, receiver, tokenKind, value, log: null };
    return transactionRow(unpackTransfer(packed, '', id - first));
  });
  return tell({ first, rows: told });
}

/** Whether there is an outgoing and an incoming one among the entries `start..end - 1`. */
function hasBothDirections(entries: readonly HistoryEntry[], start: number, end: number): boolean {
  let [gives, gets] = [false, false];
  for (let i = start; i < end; i++) {
    const direction = directionOf(entries[i]!);
    gives ||= direction < 0;
    gets ||= direction > 0;
  }
  return gives && gets;
}

/** Entries, oldest first, by transaction. */
function byTransaction(
  entries: readonly HistoryEntry[],
  rows: readonly (EntryRow | null)[],
): OpenTransaction[] {
  const found: OpenTransaction[] = [];
  let last: OpenTransaction | undefined;
  for (let i = 0; i < entries.length; i++) {
    const row = rows[i]!;
    if (row === null) continue;
    if (last === undefined || last.first !== row.first) {
      last = { first: row.first, entries: [], rows: [] };
      found.push(last);
    }
    last.entries.push(entries[i]!);
    last.rows.push(row);
  }
  return found;
}

/**
 * Rows of entries, oldest first; null for one that is missing. They come as one text: a row each takes twice as long.
 */
function prepareEntryRows(db: Db): (entries: readonly HistoryEntry[]) => (EntryRow | null)[] {
  const statement = db
    .prepare<[string], string>(/* sql */ `
      SELECT group_concat(ifnull(iif(typeof(t.tx) = 'blob', 0, t.tx) || ' ' || t.token_kind || ' ' || hex(t.value), ''))
      FROM json_each(?) list LEFT JOIN transfers t ON t.id = list.value`)
    .pluck();
  return (entries) => {
    if (entries.length === 0) return [];
    const texts = statement.get(idList(entries.map(({ id }) => id)))!.split(',');
    return texts.map((text, i) => {
      if (text === '') return null;
      const tokenKind = text.indexOf(' ') + 1;
      const value = text.indexOf(' ', tokenKind) + 1;
      return {
        first: entries[i]!.id - Number(text.slice(0, tokenKind - 1)),
        tokenKind: Number(text.slice(tokenKind, value - 1)),
        value: text.slice(value),
      };
    });
  };
}

/**
 * Those entries of a page that may share a transaction with one of the other direction. A run of entries that may be of
 * one transaction goes on where the next one is near or of the same block. The first and the last run of a page may go
 * on beyond it.
 */
function prepareMixedRuns(db: Db): (page: readonly HistoryEntry[]) => HistoryEntry[] {
  const blockEndsOf = prepareBlockEnds(db);
  return (page) => {
    const isFar = (i: number) => page[i + 1]!.id - page[i]!.id > NEAR;
    const far: number[] = [];
    for (let i = 0; i < page.length - 1; i++) if (isFar(i)) far.push(page[i]!.id);
    const ends = blockEndsOf(far);
    const mixed: HistoryEntry[] = [];
    let at = 0;
    for (let start = 0, end = 0; start < page.length; start = end) {
      end = start + 1;
      while (end < page.length && (!isFar(end - 1) || page[end]!.id <= ends[at++]!)) end++;
      const isAtBorder = start === 0 || end === page.length;
      if (!isAtBorder && !hasBothDirections(page, start, end)) continue;
      for (let i = start; i < end; i++) mixed.push(page[i]!);
    }
    return mixed;
  };
}

/** The last transfer of the block of each listed one. */
function prepareBlockEnds(db: Db): (ids: readonly number[]) => number[] {
  const statement = db
    .prepare<[string], string>(
      `SELECT group_concat(ifnull(${blockEndSql('list.value')}, list.value)) FROM json_each(?) list`,
    )
    .pluck();
  return (ids) => (ids.length === 0 ? [] : statement.get(idList(ids))!.split(',').map(Number));
}
