/** Opens SQLite files with the settings that all connections to index.db and keys.db share. */
import Database from 'better-sqlite3';

export type Db = Database.Database;
export type Statement<P extends unknown[] = unknown[], R = unknown> = Database.Statement<P, R>;

/** Longest wait for another connection's lock, milliseconds. In WAL mode readers never wait; writers of keys.db may. */
const BUSY_TIMEOUT_MS = 5_000;

/** SQLite truncates the file of an emptied WAL to this size, unless a backfill needs it (wal.ts). */
export const WAL_KEPT_BYTES = 64 * 1024 * 1024;

export interface OpenOptions {
  /** Opens read-only; the file must exist. */
  readonly?: boolean;
  /** Page cache of this connection, MiB. */
  cacheMb?: number;
  /** Page size for a new file, bytes. */
  pageBytes?: number;
}

/**
 * Opens a database file in WAL mode. With `synchronous=NORMAL` a power cut can lose the newest commits but never tears
 * one: lost blocks are indexed again.
 */
export function openDatabase(path: string, options: OpenOptions = {}): Db {
  const db = new Database(path, { readonly: options.readonly ?? false, timeout: BUSY_TIMEOUT_MS });
  try {
    configure(db, options);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens an empty database in memory. What does not fit there goes to temporary files, which the system removes. */
export function openMemory(): Db {
  const db = new Database(':memory:');
  db.pragma('temp_store = FILE');
  return db;
}

/** Whether a file has no tables: it is new, or a kill interrupted the transaction that creates them. */
export function isEmpty(db: Db): boolean {
  return db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
}

/** The highest id in a column, 0 while the table is empty. */
export function highest(db: Db, table: string, column = 'id'): number {
  return db.prepare<[], number>(`SELECT ifnull(max(${column}), 0) FROM ${table}`).pluck().get() ?? 0;
}

/** Prepares what a connection reads again and again once, at its first use. */
export function oncePerConnection<T>(prepare: (db: Db) => T): (db: Db) => T {
  const prepared = new WeakMap<Db, { readers: T }>();
  return (db) => {
    let found = prepared.get(db);
    if (found === undefined) {
      found = { readers: prepare(db) };
      prepared.set(db, found);
    }
    return found.readers;
  };
}

/** Sets the longest wait for another connection's lock, milliseconds. */
export function setBusyTimeout(db: Db, ms: number = BUSY_TIMEOUT_MS): void {
  db.pragma(`busy_timeout = ${ms}`);
}

function configure(db: Db, options: OpenOptions): void {
  if (!options.readonly) {
    if (options.pageBytes) db.pragma(`page_size = ${options.pageBytes}`);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
  }
  db.pragma(`cache_size = ${-(options.cacheMb ?? 16) * 1024}`);
  db.pragma('temp_store = MEMORY');
}

/** Runs reads that all see the same commit. Keep them short: checkpoints wait for them. */
export function inReadTransaction<T>(db: Db, read: () => T): T {
  return db.transaction(read).deferred();
}
