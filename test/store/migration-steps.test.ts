/** What the single migrations make of the rows of earlier releases. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AnchorTable } from '../../src/store/chain-anchors.ts';
import { changedRows } from '../../src/store/checksum.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { sumsOfSends } from '../../src/store/migrations/counterparty-sums.ts';
import { packedFirstBuyers } from '../../src/store/migrations/first-buyers.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations/migrations.ts';
import { REASONS_OF_GAPS } from '../../src/store/migrations/small-tables.ts';
import { smallerTransfers } from '../../src/store/migrations/transfers.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { MAX_FIRST_BUYERS } from '../../src/store/schema.ts';
import { prepareBuyersOf } from '../../src/store/tokens/first-buyers.ts';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { createIndex as createIndexFixture, type NamedTransfer } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';
import { createIndex } from './migratable.ts';

/** Runs a migration, stopped and started again after each step. Returns its progress, which only grows. */
function stepByStep(db: Db, migration: Migration): number[] {
  const done: number[] = [];
  for (let isComplete = false; !isComplete; ) {
    const steps = migrate(db, [migration]);
    const { value } = steps.next();
    steps.return();
    isComplete = value === undefined;
    if (value) done.push(value.done);
  }
  assert.deepEqual(
    done,
    done.toSorted((a, b) => a - b),
  );
  return done;
}

test('transfers are copied in steps, and equal those of a new index', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 120, `0x${'00'.repeat(32)}`, 5))]);
  writer.close();
  const expected = dumpIndex(path);
  const db = openDatabase(path);
  t.after(() => db.close());
  const kinds = db.prepare('SELECT DISTINCT kind FROM transfers ORDER BY kind').pluck().all();
  assert.deepEqual(kinds, [0, 1, 2, 3, 4]);
  // The table of schema 4.
  db.exec(/* sql */ `
    ALTER TABLE transfers RENAME TO new_transfers;
    CREATE TABLE transfers (
      id INTEGER PRIMARY KEY,
      tx INTEGER NOT NULL,
      sender INTEGER NOT NULL,
      receiver INTEGER NOT NULL,
      token_kind INTEGER NOT NULL,
      amount BLOB,
      token_number BLOB,
      log_index INTEGER,
      kind INTEGER AS (token_kind & 7),
      token INTEGER AS (nullif(token_kind >> 3, 0))
    );
    INSERT INTO transfers (id, tx, sender, receiver, token_kind, amount, token_number, log_index)
      SELECT id, tx, sender, receiver, ifnull(token, 0) * 8 + kind, amount, token_number, log_index FROM new_transfers;
    DROP TABLE new_transfers;`);
  db.pragma('user_version = 4');
  const done = stepByStep(db, smallerTransfers(100));
  assert.ok(done.length > 6 && done.at(-1) === 1, `${done}`);
  assert.deepEqual(dumpIndex(path), expected);
});

test('the blocks without traces become gaps with that reason', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  const blocks = randomBlocks(1, 40, `0x${'00'.repeat(32)}`, 5);
  writer.append([toBatch(blocks.slice(0, 20)), toBatch(blocks.slice(20, 30), false)]);
  writer.append([toBatch(blocks.slice(30, 35)), toBatch(blocks.slice(35), false)]);
  writer.close();
  const expected = dumpIndex(path);
  assert.equal(expected.filter((line) => line.startsWith('block_gaps')).length, 2);
  const db = openDatabase(path);
  t.after(() => db.close());
  db.exec(/* sql */ `
    CREATE TABLE untraced_blocks (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO untraced_blocks SELECT first, last, 0 FROM block_gaps;
    DROP TABLE block_gaps;`);
  db.pragma(`user_version = ${REASONS_OF_GAPS.version - 1}`);
  stepByStep(db, REASONS_OF_GAPS);
  assert.deepEqual(dumpIndex(path), expected);
  assert.deepEqual(changedRows(db, 'block_gaps'), []);
});

test('the sums of busy wallets are folded again in steps, and equal those of a new index', (t) => {
  const index = createIndexFixture(t, 1, 1);
  const deal = (from: string, to: string, count: number): NamedTransfer[] =>
    Array.from({ length: count }, (_, i) => ({ from, to: `${to} ${i % 7}` }));
  index.append([
    { first: deal('hub', 'customer', 8 * ENTRIES_PER_PAGE), second: deal('payer', 'payee', 300) },
    { third: [...deal('hub', 'customer', 50), { from: 'hub', to: 'zero' }] },
  ]);
  const expected = dumpIndex(index.path).filter((line) => !line.startsWith('chain'));
  const sums = expected.filter((line) => /^(counterparty_sums|summed_histories)/.test(line));
  assert.ok(sums.length >= 4, 'the hub and the payer have sums');

  const db = openDatabase(index.path);
  t.after(() => db.close());
  // The tables of schema 2, whose sums the migration does not read.
  db.exec(/* sql */ `
    DROP INDEX counterparty_sums_by_peak;
    ALTER TABLE counterparty_sums DROP COLUMN sent;
    UPDATE counterparty_sums SET sums = x'00';
    CREATE INDEX counterparty_sums_by_peak ON counterparty_sums (wallet, peak, last);`);
  db.pragma('user_version = 2');
  const done = stepByStep(db, sumsOfSends(1));
  assert.ok(done.length > 6 && done.at(-1) === 1, `${done}`);
  assert.deepEqual(
    dumpIndex(index.path).filter((line) => !line.startsWith('chain')),
    expected,
  );
});

test('the first buyers are packed in steps, and equal those of a new index', (t) => {
  const index = createIndexFixture(t, 1, 1);
  const deal = (token: string, buyers: number): NamedTransfer[] =>
    Array.from({ length: buyers }, (_, i) => ({
      kind: 'erc20',
      from: 'shop',
      to: `buyer ${i}`,
      token,
    }));
  const tokens = ['one', 'many', 'two', 'four', 'five'];
  index.append([
    { first: tokens.flatMap((token) => deal(token, token === 'many' ? MAX_FIRST_BUYERS : 3)) },
    {
      second: [
        { kind: 'erc20', from: 'shop', to: 'zero', token: 'burnt' },
        ...deal('two', 20),
        ...deal('last', 1),
      ],
    },
  ]);
  const expected = dumpIndex(index.path);
  const packed = expected.filter((line) => line.startsWith('first_buyers'));
  assert.equal(packed.length, tokens.length + 1, 'a token without buyers has no row');

  const db = openDatabase(index.path);
  t.after(() => db.close());
  const buyersOf = prepareBuyersOf(db);
  const ids = db.prepare<[], number>('SELECT token FROM first_buyers').pluck().all();
  const rows = ids.flatMap((token) =>
    buyersOf(token).map(({ transfer, wallet }) => [token, transfer, wallet]),
  );
  assert.equal(rows.length, MAX_FIRST_BUYERS + 3 * 3 + 20 + 1);
  // The table of schema 3.
  db.exec(/* sql */ `
    DROP TABLE first_buyers;
    CREATE TABLE first_buyers (
      token INTEGER NOT NULL,
      transfer INTEGER NOT NULL,
      wallet INTEGER NOT NULL,
      PRIMARY KEY (token, transfer)
    ) WITHOUT ROWID;`);
  const insert = db.prepare('INSERT INTO first_buyers (token, transfer, wallet) VALUES (?, ?, ?)');
  for (const row of rows) insert.run(row);
  db.pragma('user_version = 3');
  const done = stepByStep(db, packedFirstBuyers(2));
  assert.ok(done.length > 4 && done.at(-1) === 1, `${done}`);
  assert.deepEqual(dumpIndex(index.path), expected);
  assert.equal(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'former%'").pluck().get(), 0);
});

test('a final block of an earlier release is forgotten, because no node proved it; damage stays', (t) => {
  const path = createIndex(t);
  const db = openDatabase(path);
  const anchors = new AnchorTable(db);
  const known = { genesis: null, firstParent: null, reorgFrom: 9 };
  const forget = () => {
    db.pragma('user_version = 8');
    const migration = MIGRATIONS.filter(({ version }) => version === 9);
    assert.equal([...migrate(db, migration)].length, 1);
    return { read: anchors.read(), isWhole: anchors.isWhole() };
  };
  assert.deepEqual(forget(), { read: { ...known, finalized: null, reorgFrom: null }, isWhole: true });
  anchors.set({ ...known, finalized: 7 });
  assert.deepEqual(forget(), { read: { ...known, finalized: null }, isWhole: true });
  anchors.set({ ...known, finalized: 7 });
  db.exec('UPDATE chain_anchors SET reorg_from = 10');
  assert.deepEqual(forget(), { read: { ...known, finalized: 7, reorgFrom: 10 }, isWhole: false });
  db.close();
});
