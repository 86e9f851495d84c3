import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BlockGapTable } from '../../src/store/block-gaps.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';
import { startRecordedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const FLIPS_PER_TABLE = 8;
const FLIPS_OF_TRANSFERS = 50;

/** Distances of `wallets` that are read only as the ids made from them: an empty BLOB gives the same id as 0. */
const DISTANCE = /_after$/;

/** The rows of a table, or the error with which SQLite refuses to read them. */
function contentOf(path: string, table: string): string {
  let db: Db | undefined;
  try {
    db = openDatabase(path, { readonly: true });
    const all = db.prepare(`SELECT * FROM "${table}"`);
    const names = all.columns().map(({ name }) => name);
    const read = names.filter((name) => !DISTANCE.test(name)).map((name) => `"${name}"`);
    return JSON.stringify(db.prepare(`SELECT ${read} FROM "${table}"`).raw().all());
  } catch (error) {
    return String(error);
  } finally {
    db?.close();
  }
}

/** Whether the check reports anything about the file. */
async function isFound(path: string): Promise<boolean> {
  const report = await verifyAlone(path).catch((error: unknown) => {
    assert.ok(error instanceof Error && error.name === 'FatalError', String(error));
    return null;
  });
  return report === null || report.differences > 0;
}

/** Rows for the tables that the recorded blocks leave empty. */
function addTokenFacts(path: string): void {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  const fact = { symbol: 'ATL', decimals: 18, tries: 1, retryAt: 1_800_000_000 };
  writer.saveMetadata(
    Array.from({ length: 100 }, (_, i) => ({
      ...fact,
      address: `0x${`${i}`.padStart(40, '7')}`,
      name: `Token ${i}`,
    })),
  );
  for (let token = 1; token <= 10; token++)
    writer.setBalanceAccuracy(token, {
      quality: 1,
      block: 17_686_111,
      offsets: [{ wallet: 1, offset: 77n }],
    });
  writer.close();
  const db = openDatabase(path);
  const gaps = new BlockGapTable(db);
  for (const block of [17_686_110, 17_686_112])
    gaps.append({ kind: 'trace', first: block, last: block, reason: 'not traced' });
  db.close();
  // No trade of a gap counts, so what follows from the transfers is derived again.
  forgetDerived(path);
  const again = new IndexWriter(path, { cacheMb: 8 });
  while (again.incompleteDerived().length > 0) again.deriveStep(20_000);
  again.close();
}

test('verify --file finds every flipped bit that changes a stored fact, in each table of real blocks', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const node = await startRecordedNode(t, folder, 'eth-17686110-17686121', { head: 17_686_112 });
  const whole = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 17_686_110 });
  addTokenFacts(whole);
  const clean = await verifyAlone(whole);
  assert.deepEqual(differencesOf(clean), []);
  const bytes = readFileSync(whole);

  const db = openDatabase(whole, { readonly: true });
  const pages = db
    .prepare<[string], { name: string; pageno: number }>(/* sql */ `
      SELECT name, pageno FROM dbstat
      WHERE name IN (SELECT name FROM sqlite_schema WHERE type = 'table') AND name NOT LIKE ?`)
    .all('sqlite_%');
  const pageSize = Number(db.pragma('page_size', { simple: true }));
  db.close();
  const tables = Map.groupBy(pages, ({ name }) => name);
  const random = randomSource(24);
  const pick = (count: number) => Math.floor(random() * count);
  const path = join(tempDir(t), 'index.db');
  const missed: string[] = [];
  let changes = 0;
  for (const [table, own] of tables) {
    const before = contentOf(whole, table);
    for (let i = 0; i < (table === 'transfers' ? FLIPS_OF_TRANSFERS : FLIPS_PER_TABLE); i++) {
      const at = (own[pick(own.length)]!.pageno - 1) * pageSize + pick(pageSize);
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 1 << pick(8);
      writeFileSync(path, damaged);
      if (contentOf(path, table) === before) continue; // an unused byte, or the same value in another form
      changes++;
      if (!(await isFound(path))) missed.push(`${table} at ${at}`);
    }
  }
  assert.ok(changes > 60, `only ${changes} flips changed what is stored`);
  assert.deepEqual(missed, []);
});
