/** Exports of a random index, read by DuckDB. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { type ExportOptions, exportTable, type TableName } from '../../src/export/export.ts';
import { MANIFEST, type Manifest } from '../../src/export/manifest.ts';
import { AnchorTable } from '../../src/store/chain-anchors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';

/** First block of the index. */
export const START = 7;
/** Blocks of the index. */
export const BLOCKS = 300;
/** Last block of the index. */
export const LAST = START + BLOCKS - 1;
const PARENT = `0x${'0'.repeat(64)}`;

interface Exporting {
  db: Db;
  out: string;
  /** Paths of the files written. */
  files: string[];
  /** Reasons for writing none. */
  idle: string[];
  run(options: Partial<ExportOptions>, signal?: AbortSignal): Promise<number>;
}

/** Writes an index of the blocks up to `last`, final up to `finalized`, of the chain that the seed gives. */
export function createIndex(t: TestContext, finalized: number, seed = 1, last = START + BLOCKS - 1): string {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(143, START);
  writer.append([toBatch(randomBlocks(START, last - START + 1, PARENT, seed))]);
  writer.close();
  setFinalized(path, finalized);
  return path;
}

/** Prepares exports of an index, `index` or a new one, into `out` or a new folder. */
export function setUp(
  t: TestContext,
  finalized: number,
  { index = createIndex(t, finalized), out = tempDir(t) } = {},
): Exporting {
  const db = openIndexForReading(index);
  t.after(() => db.close());
  const files: string[] = [];
  const idle: string[] = [];
  const events = {
    onProgress: () => undefined,
    onFile: (file: { path: string }) => files.push(file.path),
    onIdle: (reason: string) => idle.push(reason),
  };
  const defaults: ExportOptions = {
    table: 'transfers',
    format: 'parquet',
    out,
    blocksPerFile: 100,
    maxReorg: 128,
    follow: false,
    tradeLists: TRADE_LISTS,
  };
  return {
    db,
    out,
    files,
    idle,
    run: (options, signal = new AbortController().signal) =>
      exportTable(db, { ...defaults, ...options }, events, signal),
  };
}

export function setFinalized(path: string, block: number): void {
  const db = openDatabase(path);
  new AnchorTable(db).setFinalized(block);
  db.close();
}

/** Runs one DuckDB statement and returns its rows as JSON values. */
export async function duck(sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
}

/** Rows and distinct rows that a query over all files of a table sees. */
export async function rowsIn(out: string, table: TableName): Promise<[rows: number, distinct: number]> {
  const [row] = await duck(
    `SELECT (SELECT count(*) FROM '${out}/${table}/*.parquet')::INT AS n,
       (SELECT count(*) FROM (SELECT DISTINCT * FROM '${out}/${table}/*.parquet'))::INT AS one`,
  );
  return [Number(row?.n), Number(row?.one)];
}

/** Transfers of the index up to a block. */
export function transfersTo(db: Db, block: number): number {
  return (
    db.prepare<[number], number>('SELECT last_transfer FROM blocks WHERE number = ?').pluck().get(block) ?? 0
  );
}

export function dataFiles(out: string, table: TableName): string[] {
  return readdirSync(join(out, table)).filter((name) => name !== 'manifest.json');
}
