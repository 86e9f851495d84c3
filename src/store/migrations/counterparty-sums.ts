/** Migration 3: the sums of busy wallets. */
import { CounterpartySumsTable, type History, PAGES_PER_FOLD } from '../counterparty-sums.ts';
import { type Db, highest } from '../open-database.ts';
import { ENTRIES_PER_PAGE } from '../wallet-history.ts';
import { type Migration, unmigrated } from './migration.ts';

/** Portions folded per step: half a million entries. */
const PORTIONS_PER_STEP = 2;
/** Rows of the former sums that a step deletes. */
const DELETED_PER_STEP = 5_000;

/**
 * Sums the histories of busy wallets up again, with what they sent. The former tables list the wallets to sum up, and
 * go at the end. The cursor is the lowest wallet that is not complete. Tests fold fewer pages at a time.
 */
export function sumsOfSends(pagesPerFold: number = PAGES_PER_FOLD): Migration {
  return {
    version: 3,
    title: 'sum up what busy wallets sent',
    end: (db) => highest(db, unmigrated(db, 'summed_histories'), 'wallet') + 1,
    step(db, cursor) {
      if (cursor === null) {
        replaceSums(db);
        return 0;
      }
      const wallet = db
        .prepare<[number], number>(
          'SELECT wallet FROM former_summed_histories WHERE wallet >= ? ORDER BY wallet LIMIT 1',
        )
        .pluck()
        .get(cursor);
      if (wallet !== undefined) {
        const sums = new CounterpartySumsTable(db, pagesPerFold);
        return sums.foldSome(historyOf(db, wallet), PORTIONS_PER_STEP) ? wallet + 1 : wallet;
      }
      const { changes } = db
        .prepare(/* sql */ `
          DELETE FROM former_counterparty_sums WHERE (wallet, span) IN (
            SELECT wallet, span FROM former_counterparty_sums LIMIT ${DELETED_PER_STEP})`)
        .run();
      if (changes > 0) return cursor;
      db.exec('DROP TABLE former_counterparty_sums; DROP TABLE former_summed_histories;');
      return null;
    },
  };
}

function replaceSums(db: Db): void {
  db.exec(/* sql */ `
    DROP INDEX counterparty_sums_by_peak;
    ALTER TABLE counterparty_sums RENAME TO former_counterparty_sums;
    ALTER TABLE summed_histories RENAME TO former_summed_histories;
    CREATE TABLE summed_histories (
      wallet INTEGER PRIMARY KEY,
      pages INTEGER NOT NULL,
      last INTEGER NOT NULL
    );
    CREATE TABLE counterparty_sums (
      wallet INTEGER NOT NULL,
      span INTEGER NOT NULL,
      peak INTEGER NOT NULL,
      last INTEGER NOT NULL,
      sent INTEGER NOT NULL,
      sums BLOB NOT NULL,
      PRIMARY KEY (wallet, span)
    ) WITHOUT ROWID;
    CREATE INDEX counterparty_sums_by_peak ON counterparty_sums (wallet, peak, last, sent);`);
}

function historyOf(db: Db, id: number): History {
  const { transfers, firstTransfer } = db
    .prepare<[number], { transfers: number; firstTransfer: number | null }>(
      'SELECT transfers, first_transfer AS firstTransfer FROM wallets WHERE id = ?',
    )
    .get(id) ?? { transfers: 0, firstTransfer: null };
  return { id, firstTransfer, finishedPages: Math.max(0, Math.ceil(transfers / ENTRIES_PER_PAGE) - 1) };
}
