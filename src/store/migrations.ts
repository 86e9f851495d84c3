/**
 * Upgrades an index of an earlier release. Migrations are numbered and never removed: an older file runs the ones it
 * lacks, a new file is created from schema.ts. Both must yield the same tables, so a migration keeps its own copy of
 * any CREATE text that schema.ts changes later.
 */
import { rowChecksum } from './checksum.ts';
import { CounterpartySumsTable, type History, PAGES_PER_FOLD } from './counterparty-sums.ts';
import { type Migration, unmigrated } from './migration.ts';
import { type Db, highest } from './open-database.ts';
import { type Buyer, packBuyers } from './tokens/first-buyers.ts';
import { viewKinds } from './view-kind-migration.ts';
import { ENTRIES_PER_PAGE } from './wallet-history.ts';

export interface MigrationProgress {
  version: number;
  title: string;
  /** Progress of this migration, 0 to 1. */
  done: number;
}

const CHECKSUM_OF_ANCHORS: Migration = {
  version: 2,
  title: 'add a checksum to the chain identity',
  step(db) {
    const columns = 'one, genesis, first_parent, finalized, reorg_from';
    const row = db.prepare<[], unknown[]>(`SELECT ${columns} FROM chain_anchors`).raw().get();
    db.exec(/* sql */ `
      DROP TABLE chain_anchors;
      CREATE TABLE chain_anchors (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        genesis BLOB,
        first_parent BLOB,
        finalized INTEGER,
        reorg_from INTEGER,
        checksum INTEGER NOT NULL
      );`);
    if (row !== undefined)
      db.prepare(`INSERT INTO chain_anchors (${columns}, checksum) VALUES (?, ?, ?, ?, ?, ?)`).run(
        ...row,
        rowChecksum(...row),
      );
    return null;
  },
};

/** Portions folded per step: half a million entries. */
const PORTIONS_PER_STEP = 2;
/** Rows of the former sums that a step deletes. */
const DELETED_PER_STEP = 5_000;

/**
 * Sums the histories of busy wallets up again, with what they sent. The former tables list the wallets to sum up, and go
 * at the end. The cursor is the lowest wallet that is not complete. Tests fold fewer pages at a time.
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

/** Tokens packed per step: at most 200,000 rows. */
const PACKED_PER_STEP = 1_000;

/**
 * Packs the first buyers into one row per token. The packed rows leave the former table, so that new ones take their
 * pages. The cursor is the last token done. Tests pack fewer tokens at a time.
 */
export function packedFirstBuyers(tokensPerStep: number = PACKED_PER_STEP): Migration {
  return {
    version: 4,
    title: 'pack the first buyers',
    end: (db) => highest(db, 'tokens') + 1,
    step(db, cursor) {
      if (cursor === null) {
        db.exec(/* sql */ `
          ALTER TABLE first_buyers RENAME TO former_first_buyers;
          CREATE TABLE first_buyers (
            token INTEGER PRIMARY KEY,
            buyers BLOB NOT NULL
          );`);
        return 0;
      }
      const first = db
        .prepare<[number], number>(
          'SELECT token FROM former_first_buyers WHERE token > ? ORDER BY token LIMIT 1',
        )
        .pluck()
        .get(cursor);
      if (first === undefined) {
        db.exec('DROP TABLE former_first_buyers');
        return null;
      }
      const last = first + tokensPerStep - 1;
      packBuyersOf(db, first, last);
      return last;
    },
  };
}

function packBuyersOf(db: Db, first: number, last: number): void {
  const rows = db
    .prepare<[number, number], Buyer & { token: number }>(/* sql */ `
      SELECT token, transfer, wallet FROM former_first_buyers WHERE token BETWEEN ? AND ? ORDER BY token, transfer`)
    .all(first, last);
  const insert = db.prepare('INSERT INTO first_buyers (token, buyers) VALUES (?, ?)');
  for (const [token, buyers] of Map.groupBy(rows, ({ token }) => token))
    insert.run(token, packBuyers(buyers));
  db.prepare('DELETE FROM former_first_buyers WHERE token BETWEEN ? AND ?').run(first, last);
}

function historyOf(db: Db, id: number): History {
  const { transfers, firstTransfer } = db
    .prepare<[number], { transfers: number; firstTransfer: number | null }>(
      'SELECT transfers, first_transfer AS firstTransfer FROM wallets WHERE id = ?',
    )
    .get(id) ?? { transfers: 0, firstTransfer: null };
  return { id, firstTransfer, finishedPages: Math.max(0, Math.ceil(transfers / ENTRIES_PER_PAGE) - 1) };
}

/** Rows copied per step, which takes a fifth of a second. */
const TRANSFERS_PER_STEP = 50_000;

/** The bytes 0 to 32, to make one of a length and back. */
const LENGTHS = `x'${Buffer.from(Array.from({ length: 33 }, (_, i) => i)).toString('hex')}'`;

/**
 * Copies every transfer into a table with a column less and smaller numbers. Each step frees the pages of the rows that
 * it has copied for the next one, so the file hardly grows. The cursor is the last transfer copied. Tests copy fewer
 * rows at a time.
 */
export function smallerTransfers(perStep: number = TRANSFERS_PER_STEP): Migration {
  return {
    version: 5,
    title: 'store transfers in fewer bytes',
    end: (db) => highest(db, unmigrated(db, 'transfers')),
    step(db, cursor) {
      if (cursor === null) {
        replaceTransfers(db);
        return 0;
      }
      const { changes, lastInsertRowid } = db
        .prepare(/* sql */ `
        INSERT INTO transfers (id, tx, sender, receiver, token_kind, value, log)
        SELECT id, tx, sender, receiver, iif(token_kind & 7 = 1, -(token_kind >> 3), token_kind), ifnull(CASE token_kind & 7
            WHEN 3 THEN token_number
            WHEN 4 THEN CAST(substr(${LENGTHS}, length(token_number) + 1, 1) || token_number || amount AS BLOB)
            ELSE amount END, x''), log_index - 128
        FROM former_transfers ORDER BY id LIMIT ${perStep}`)
        .run();
      if (changes === 0) {
        db.exec('DROP TABLE former_transfers');
        return null;
      }
      db.prepare('DELETE FROM former_transfers WHERE id <= ?').run(lastInsertRowid);
      return Number(lastInsertRowid);
    },
  };
}

function replaceTransfers(db: Db): void {
  db.exec(/* sql */ `
    ALTER TABLE transfers RENAME TO former_transfers;
    CREATE TABLE transfers (
      id INTEGER PRIMARY KEY,
      tx INTEGER NOT NULL,
      sender INTEGER NOT NULL,
      receiver INTEGER NOT NULL,
      token_kind INTEGER NOT NULL,
      value BLOB NOT NULL,
      log INTEGER,
      log_index INTEGER AS (log + 128),
      kind INTEGER AS (iif(token_kind < 0, 1, nullif(token_kind & 7, 1))),
      token INTEGER AS (iif(token_kind < 0, -token_kind, nullif(token_kind >> 3, 0))),
      amount BLOB AS (CASE kind
        WHEN 3 THEN NULL
        WHEN 4 THEN substr(value, instr(${LENGTHS}, substr(value, 1, 1)) + 1)
        ELSE value END),
      token_number BLOB AS (CASE kind
        WHEN 3 THEN value
        WHEN 4 THEN substr(value, 2, instr(${LENGTHS}, substr(value, 1, 1)) - 1) END)
    );`);
}

/** Rules 1 without what the first releases took from the configuration at each start: a daemon completes them. */
const RULES_OF_INDEX: Migration = {
  version: 6,
  title: 'record the rules of the index',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE index_rules (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        version INTEGER NOT NULL,
        monad INTEGER,
        wrapped_native TEXT,
        native_contracts TEXT NOT NULL,
        unindexed_erc20 TEXT NOT NULL,
        checksum INTEGER NOT NULL
      );`);
    const row = [1, 1, null, null, '', ''];
    if (db.prepare('SELECT 1 FROM chain').get() !== undefined)
      db.prepare('INSERT INTO index_rules VALUES (?, ?, ?, ?, ?, ?, ?)').run(...row, rowChecksum(...row));
    return null;
  },
};

/** Adds what is missing and why to the blocks without traces. Their number follows from a few bad nodes, not the chain. */
export const REASONS_OF_GAPS: Migration = {
  version: 7,
  title: 'record why blocks are incomplete',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE block_gaps (
        kind INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        reason TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (kind, first)
      ) WITHOUT ROWID;`);
    const insert = db.prepare(
      'INSERT INTO block_gaps (kind, first, last, reason, checksum) VALUES (0, ?, ?, ?, ?)',
    );
    const rows = db
      .prepare<[], { first: number; last: number }>('SELECT first, last FROM untraced_blocks ORDER BY first')
      .all();
    for (const { first, last } of rows)
      insert.run(first, last, FORMER_REASON, rowChecksum(first, last, 0, FORMER_REASON));
    db.exec('DROP TABLE untraced_blocks');
    return null;
  },
};

/**
 * Earlier releases took every block that a node called finalized for final, also where a node calls its latest one so.
 * The daemon proves the tag again. A row that does not match its checksum stays damaged.
 */
const UNPROVED_ANCHORS: Migration = {
  version: 9,
  title: 'forget final blocks that no node proved',
  step(db) {
    const columns = 'one, genesis, first_parent, finalized, reorg_from';
    const row = db
      .prepare<[], [unknown, unknown, unknown, unknown, unknown]>(`SELECT ${columns} FROM chain_anchors`)
      .raw()
      .get();
    if (row === undefined) return null;
    const [one, genesis, firstParent, , reorgFrom] = row;
    db.prepare('UPDATE chain_anchors SET finalized = NULL, checksum = ? WHERE checksum = ?').run(
      rowChecksum(one, genesis, firstParent, null, reorgFrom),
      rowChecksum(...row),
    );
    return null;
  },
};

/** Earlier releases recorded no reasons. */
const FORMER_REASON = 'indexed without traces';

const TABLE_OF_REWRITES: Migration = {
  version: 8,
  title: 'add a table of repairs',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE rewrites (
        number INTEGER PRIMARY KEY,
        first INTEGER NOT NULL,
        lowest INTEGER NOT NULL,
        highest INTEGER NOT NULL,
        token INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      );`);
    return null;
  },
};

/** Schema 1 is the first release. */
export const MIGRATIONS: readonly Migration[] = [
  CHECKSUM_OF_ANCHORS,
  sumsOfSends(),
  packedFirstBuyers(),
  smallerTransfers(),
  RULES_OF_INDEX,
  REASONS_OF_GAPS,
  TABLE_OF_REWRITES,
  UNPROVED_ANCHORS,
  viewKinds(),
];

/** Holds the cursor of an unfinished migration. The table exists only during a migration. */
const CREATE_PROGRESS_TABLE = /* sql */ `CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, cursor INTEGER)`;

/** Runs the migrations the file lacks, one step per `next`. After a stop, the next call resumes there. */
export function* migrate(db: Db, migrations: readonly Migration[]): Generator<MigrationProgress, void, void> {
  for (const migration of migrations) {
    if (migration.version <= schemaVersion(db)) continue;
    const { version, title } = migration;
    const end = migration.end?.(db) ?? 1;
    for (;;) {
      const cursor = db.transaction(() => runStep(db, migration)).immediate();
      yield { version, title, done: cursor === null ? 1 : Math.min(1, cursor / end) };
      if (cursor === null) break;
    }
  }
}

/** `PRAGMA user_version`. */
export function schemaVersion(db: Db): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** The schema version after these migrations. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 1;
}

function runStep(db: Db, migration: Migration): number | null {
  db.exec(CREATE_PROGRESS_TABLE);
  const savedCursor = db
    .prepare<[number], number>('SELECT cursor FROM migration WHERE version = ?')
    .pluck()
    .get(migration.version);
  const cursor = migration.step(db, savedCursor ?? null);
  if (cursor === null) {
    db.exec('DROP TABLE migration');
    db.pragma(`user_version = ${migration.version}`);
  } else {
    db.prepare('INSERT OR REPLACE INTO migration (version, cursor) VALUES (?, ?)').run(
      migration.version,
      cursor,
    );
  }
  return cursor;
}
