import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { checkStructure } from '../../src/verify/check-file.ts';
import { Check } from '../../src/verify/report.ts';
import { IndexFixture, type NamedTransfer } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

/** The path of a closed index whose token has three holders. */
function threeHolders(t: TestContext): string {
  const fixture = new IndexFixture(join(tempDir(t), 'index.db'), 1);
  const transfers = ['b', 'c', 'd'].map(
    (to): NamedTransfer => ({ from: 'a', to, token: 't', kind: 'erc20' }),
  );
  fixture.append([{ one: transfers }]);
  fixture.close();
  return fixture.path;
}

/** Checks table by table. Aborts when table `stopAt` is next. */
async function check(path: string, { stopAt, again = false }: { stopAt?: string; again?: boolean } = {}) {
  const db = openIndexForReading(path);
  const stop = new AbortController();
  const result = new Check('file');
  const tables: string[] = [];
  try {
    await checkStructure(db, result, {
      signal: stop.signal,
      wholeBytes: 0,
      checksAgain: again,
      onProgress: (text) => {
        const [, table = ''] = /^file: table (\w+), \d+ of \d+$/.exec(text) ?? [];
        if (table === stopAt) stop.abort();
        else tables.push(table);
      },
    });
  } finally {
    db.close();
  }
  return { result, tables };
}

test('the structure of a large file is checked by table; a stopped check resumes after finished tables', async (t) => {
  const path = threeHolders(t);
  const progress = `${path}.verify-structure`;
  const whole = await check(path);
  assert.equal(whole.result.share, 1);
  assert.ok(whole.tables.includes('transfers') && whole.tables.includes('holdings'), `${whole.tables}`);
  assert.equal(existsSync(progress), false);

  const stopped = await check(path, { stopAt: 'holdings' });
  assert.deepEqual([stopped.result.share, stopped.result.compared], [null, '']);
  const rest = await check(path);
  assert.deepEqual([...stopped.tables, ...rest.tables], whole.tables);
  assert.match(rest.result.notes.join(), /earlier run.* checked activity/);
  assert.equal(rest.result.share, 1);
  assert.equal(existsSync(progress), false);

  await check(path, { stopAt: 'holdings' });
  assert.deepEqual((await check(path, { again: true })).tables, whole.tables);
});

test('a page whose rows are out of order is found in its table, and so is one behind it', async (t) => {
  const path = threeHolders(t);
  const db = openDatabase(path);
  const pageOf = (table: string) =>
    db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table) ?? 0;
  const pages = ['holdings', 'wallets'].map(pageOf);
  db.close();
  const bytes = readFileSync(path);
  for (const page of pages) {
    const cells = (page - 1) * 8192 + 8; // the offsets of a leaf's cells, two bytes each
    const first = bytes.readUInt16BE(cells);
    bytes.writeUInt16BE(bytes.readUInt16BE(cells + 2), cells);
    bytes.writeUInt16BE(first, cells + 2);
  }
  writeFileSync(path, bytes);
  const { result } = await check(path);
  assert.ok(
    result.differences.some(({ text }) => /out of order/i.test(text)),
    JSON.stringify(result),
  );
  assert.ok(result.differenceCount >= 2, JSON.stringify(result));
});
