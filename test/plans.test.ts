/** Query plans of the read side: no statement may scan a whole table. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { ENDPOINTS } from '../src/api/endpoints/endpoints.ts';
import { Snapshot } from '../src/query/snapshot.ts';
import { WalletIdCache } from '../src/query/wallet-id-cache.ts';
import type { Db } from '../src/store/open-database.ts';
import { AddressBook } from '../src/store/read/address-book.ts';
import { createIndex } from './support/index/index-fixture.ts';

const FOLDERS = ['query', 'store/read'].map((folder) => new URL(`../src/${folder}/`, import.meta.url));

/** Steps that scan a table or an index from one end but are bounded, with the reason. */
const ALLOWED = [
  /^SCAN list VIRTUAL TABLE INDEX/, // json_each: a list of ids, as long as the requested page
  /^SCAN (m|candidate)$/, // the candidates of a search for tokens or addresses, which have a limit
  /^SCAN chain(_anchors)?$/, // a table of one row
  /^SCAN rewrites$/, // of 64 rows
  /^SCAN trade_rules$/, // of two rows
  /^SCAN block_gaps$/, // EXISTS, which stops at the first row
  /^SCAN CONSTANT ROW$/,
  /^SCAN \(subquery-\d+\)$/, // the rows of an inner query with a limit, or of a list of ids
];

/** Statements that start at one end of a table and stop at the first row, by their text. */
const FIRST_ROW_ONLY = [/ORDER BY (blocks\.)?number DESC LIMIT 1$/, /^SELECT max\(id\) FROM wallets$/];

/** All SQL prepared while `prepare` runs. */
function statementsOf(db: Db, prepare: () => void): string[] {
  const seen: string[] = [];
  const original = db.prepare;
  db.prepare = ((sql: string) => {
    seen.push(sql.replace(/--.*/g, '').replace(/\s+/g, ' ').trim()); // a comment would hide what follows in its line
    return original.call(db, sql);
  }) as Db['prepare'];
  try {
    prepare();
  } finally {
    db.prepare = original;
  }
  return seen;
}

function planOf(db: Db, sql: string): string[] {
  const parameters = Array<null>((sql.match(/\?/g) ?? []).length).fill(null);
  return db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...parameters)
    .map(({ detail }) => detail);
}

/** Every function of the folders that prepares statements. By their rule it takes only the database. */
async function readers(): Promise<{ name: string; prepare: (db: Db) => unknown }[]> {
  const found: { name: string; prepare: (db: Db) => unknown }[] = [];
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder).map((name) => ({ name, url: new URL(name, folder) })),
  );
  for (const { name: file, url } of files.filter(({ name }) => name.endsWith('.ts'))) {
    const module: Record<string, unknown> = await import(url.href);
    for (const [name, value] of Object.entries(module)) {
      if (typeof value !== 'function' || !/^(?:async )?(?:function )?\w*\(db\b/.test(String(value))) continue;
      found.push({ name: `${file} ${name}`, prepare: (db) => value(db) });
    }
  }
  return found;
}

async function allStatements(t: TestContext): Promise<{ db: Db; statements: Map<string, string> }> {
  const db = createIndex(t).reader(t);
  const statements = new Map<string, string>();
  const collect = (name: string, prepare: () => void) => {
    for (const sql of statementsOf(db, prepare)) statements.set(sql, name);
  };
  const snapshot = new Snapshot(db);
  collect('Snapshot', () => new Snapshot(db));
  collect('WalletIdCache', () => new WalletIdCache(db, snapshot));
  collect('AddressBook', () => new AddressBook(db, { wallets: 2, tokens: 2 }));
  const walletIds = new WalletIdCache(db, snapshot);
  for (const endpoint of ENDPOINTS) {
    collect(endpoint.path, () => endpoint.prepare({ db, walletIds, nativeSymbol: 'MON', maxReorg: 128 }));
  }
  for (const { name, prepare } of await readers()) collect(name, () => prepare(db));
  return { db, statements };
}

test('every statement of query/, api/ and store/read/ goes through an index or is bounded by name', async (t) => {
  const { db, statements } = await allStatements(t);
  const walks: string[] = [];
  for (const [sql, name] of statements) {
    if (/^(BEGIN|COMMIT)/.test(sql) || FIRST_ROW_ONLY.some((pattern) => pattern.test(sql))) continue;
    for (const step of planOf(db, sql)) {
      if (step.includes('SCAN') && !ALLOWED.some((allowed) => allowed.test(step))) {
        walks.push(`${name}: ${step}\n      ${sql}`);
      }
    }
  }
  assert.deepEqual(walks, []);
  assert.ok(statements.size > 25, `only ${statements.size} statements were seen`);
});

test('lists come in the order of their index: only holders, search results and ids of a page are sorted', async (t) => {
  const { db, statements } = await allStatements(t);
  const sorted = [...statements].filter(([sql]) =>
    planOf(db, /^(BEGIN|COMMIT)/.test(sql) ? 'SELECT 1' : sql).some((step) => step.includes('TEMP B-TREE')),
  );
  assert.deepEqual(sorted.map(([sql]) => /FROM (\w+)/.exec(sql.replace(/^.* FROM \(/, ''))?.[1]).sort(), [
    'addresses',
    'holding_peaks',
    'holdings',
    'json_each',
    'json_each', // transactions of a list of transfers, each once
    'token_metadata',
    'token_metadata',
  ]);
});

test('the check detects a full table scan', (t) => {
  const db = createIndex(t).reader(t);
  assert.ok(planOf(db, 'SELECT * FROM transfers WHERE sender = ?').some((step) => step.startsWith('SCAN')));
});
