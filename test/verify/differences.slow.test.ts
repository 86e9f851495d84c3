import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { startNode, suiteCleanup } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { DAMAGES } from './damages.ts';

const BLOCKS = 24;
/** Of the index file. */
const PAGE_BYTES = 8192;

describe('verify', () => {
  const owner = suiteCleanup();
  const dir = tempDir(owner);
  let path = '';
  let url = '';
  let node: ReplayNode;

  before(async () => {
    const chain = generateChain({ seed: 40, blocks: BLOCKS, txPerBlock: 16, wallets: 4, tokens: 5 }).blocks;
    node = await startNode(owner, { chain: [...chain] });
    path = await buildIndex({ url: node.url, dir, startBlock: 1 });
    url = node.url;
  });

  test('finds nothing in an intact index and reports what it compared and what it could not', async () => {
    const report = await verifyFile({ path, http: url });
    assert.deepEqual(differencesOf(report), []);
    assert.equal(report.index.head.number, BLOCKS);
    const said = Object.fromEntries(report.checks.map(({ name, compared }) => [name, compared]));
    assert.match(said.blocks ?? '', /^24 blocks without a gap, 24 hashes compared/);
    assert.match(said.transfers ?? '', /^all transfers of 24 blocks/);
    assert.match(
      said.wallets ?? '',
      new RegExp(`recounted from ${report.index.transfers.toLocaleString('en-US')} transfers`),
    );
    assert.match(said.tokens ?? '', /^[1-9]\d* tokens/);
    const native = report.checks.find(({ name }) => name === 'native');
    assert.match(
      native?.notes[0] ?? '',
      /the node has no state/,
      'a replayed chain has no balances to ask for',
    );
  });

  for (const [what, damage, named] of DAMAGES) {
    test(`names it when ${what}`, async (t) => {
      const copy = join(tempDir(t), 'index.db');
      copyFileSync(path, copy);
      const db = openDatabase(copy);
      const before = db.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0;
      if (typeof damage === 'string') db.exec(damage);
      else damage(db);
      const changed = (db.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0) - before;
      db.close();
      assert.ok(changed > 0, 'the damage was done');
      const report = await verifyFile({ path: copy, http: url });
      assert.ok(report.differences > 0);
      assert.ok(
        differencesOf(report).some((text) => named.test(text)),
        `among ${JSON.stringify(differencesOf(report), null, 1)}`,
      );
    });
  }

  test('skips what a node behind the index lacks instead of reporting a difference, and says so', async (t) => {
    node.setHead(BLOCKS - 4);
    t.after(() => node.setHead(BLOCKS));
    const report = await verifyFile({ path, http: url });
    assert.deepEqual(differencesOf(report), []);
    const notes = Object.fromEntries(report.checks.map(({ name, notes }) => [name, notes]));
    assert.match(String(notes.blocks), /^the node lacks 4 of the 24 requested blocks, such as 2[1-4]$/);
    assert.equal(notes.transfers?.length, 5, 'four blocks, and what the sample is worth');
    assert.match(
      String(notes.transfers),
      /^block 2[1-4] could not be read: the node does not have the header of block 2[1-4]/,
    );
    assert.deepEqual(report.unfinished, ['native']);
  });

  test('finds an entry of a SQLite index unlike its row: a transfer would get the wrong block', async (t) => {
    const copy = join(tempDir(t), 'index.db');
    copyFileSync(path, copy);
    const db = openDatabase(copy);
    db.unsafeMode();
    db.exec(`
      DROP INDEX blocks_by_transfer;
      CREATE INDEX blocks_by_transfer ON blocks (last_transfer + (number = 12), number);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, ' + (number = 12)', '') WHERE name = 'blocks_by_transfer'`);
    db.close();
    const report = await verifyFile({ path: copy, http: url });
    assert.ok(
      differencesOf(report).includes('file: SQLite finds row 12 missing from index blocks_by_transfer'),
      differencesOf(report).join('\n'),
    );
  });

  test('finds a damaged page of any table', async (t) => {
    const bytes = readFileSync(path);
    const db = openDatabase(path, { readonly: true });
    const tables = db
      .prepare<[], { name: string; page: number }>(
        "SELECT name, rootpage AS page FROM sqlite_master WHERE type = 'table' AND rootpage > 0",
      )
      .all();
    db.close();
    const copy = join(tempDir(t), 'index.db');
    for (const { name, page } of tables) {
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, PAGE_BYTES * (page - 1), PAGE_BYTES * page);
      writeFileSync(copy, damaged);
      const told = await verifyFile({ path: copy, http: url }).then(differencesOf, (error: unknown) => {
        assert.ok(error instanceof FatalError, `${name}: ${error}`);
        return [`file: ${error.message}`];
      });
      assert.ok(
        told.some((text) => text.startsWith('file: ')),
        `${name}: ${told.join('\n')}`,
      );
    }
  });
});
