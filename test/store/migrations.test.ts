import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { startDaemon } from '../../src/daemon.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { AnchorTable } from '../../src/store/chain-anchors.ts';
import { changedRows } from '../../src/store/checksum.ts';
import {
  checkIndexFile,
  openIndexForReading,
  openIndexForWriting,
  prepareIndexFile,
  SCHEMA_VERSION,
} from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { sumsOfSends } from '../../src/store/migrations/counterparty-sums.ts';
import { packedFirstBuyers } from '../../src/store/migrations/first-buyers.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { latestVersion, MIGRATIONS, migrate, schemaVersion } from '../../src/store/migrations/migrations.ts';
import { REASONS_OF_GAPS } from '../../src/store/migrations/small-tables.ts';
import { smallerTransfers } from '../../src/store/migrations/transfers.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { DEVELOPMENT_APPLICATION_ID, MAX_FIRST_BUYERS, SCHEMA } from '../../src/store/schema.ts';
import { DamageError } from '../../src/store/storage-error.ts';
import { prepareBuyersOf } from '../../src/store/tokens/first-buyers.ts';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { createIndex as createIndexFixture, type NamedTransfer } from '../support/index/index-fixture.ts';
import { countingMigration, countingTable, ROWS } from '../support/index/slow-migration.ts';
import { tempDir } from '../support/temp-dir.ts';

/**
 * SHA-256 of the schema without comments and spaces. Once a schema is released, it changes only together with
 * SCHEMA_VERSION.
 */
const FROZEN = { version: 17, hash: '1f1905d732bd8477fef613260a3fd7fad4366c11cab8f8456667e972d9795179' };

/** Few enough rows for a migration in 10 steps. */
const FEW_ROWS = 200;

/** An index file with the given pragma values. */
function createIndex(t: TestContext, pragmas: Record<string, number> = {}): string {
  const path = join(tempDir(t), 'index.db');
  const db = openIndexForWriting(path, {});
  for (const [name, value] of Object.entries(pragmas)) db.pragma(`${name} = ${value}`);
  db.close();
  return path;
}

/** The version of the first migration of tests. */
const NEXT_VERSION = SCHEMA_VERSION + 1;

/** A file of the current schema and a 10-step migration of it. */
function createMigratable(t: TestContext): { path: string; migration: Migration } {
  const path = createIndex(t);
  const db = openDatabase(path);
  countingTable(db, FEW_ROWS);
  db.close();
  return { path, migration: countingMigration(NEXT_VERSION, FEW_ROWS) };
}

/** How many rows the migration has counted, by number of times. */
function counted(path: string): unknown[] {
  const db = openDatabase(path);
  try {
    return db.prepare('SELECT touched, count(*) AS rows FROM rows GROUP BY touched').all();
  } finally {
    db.close();
  }
}

function versionOf(path: string): number {
  const db = openDatabase(path);
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
}

/** Every way to open an index. */
const OPENERS = {
  reading: (path: string) => openIndexForReading(path),
  writing: (path: string) => openIndexForWriting(path, {}),
  checking: (path: string) => checkIndexFile(path),
};

test('the schema is the one of its version: a change needs a migration', () => {
  const text = SCHEMA.replace(/--.*$/gm, '').replace(/\s+/g, ' ');
  assert.deepEqual(
    { version: SCHEMA_VERSION, hash: createHash('sha256').update(text).digest('hex') },
    FROZEN,
  );
});

test('migrations are numbered one after the other', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, i) => i + 2),
  );
  assert.equal(SCHEMA_VERSION, MIGRATIONS.length + 1);
  assert.equal(latestVersion([countingMigration(2), countingMigration(3)]), 3);
});

test('a reader refuses a file that is not migrated and says what to do', (t) => {
  const path = createIndex(t, { user_version: SCHEMA_VERSION - 1 });
  assert.throws(
    () => openIndexForReading(path),
    (error) => error instanceof FatalError && /older atlas-node.*atlas-node start/.test(error.message),
  );
});

for (const [how, open] of Object.entries(OPENERS)) {
  test(`${how} refuses a file of a newer program`, (t) => {
    const path = createIndex(t, { user_version: SCHEMA_VERSION + 1 });
    assert.throws(
      () => open(path),
      (error) => error instanceof FatalError && /newer atlas-node/.test(error.message),
    );
  });

  for (const version of [1, 11])
    test(`${how} refuses a development index of schema ${version}, and says how to rebuild it`, (t) => {
      const path = createIndex(t, {
        application_id: DEVELOPMENT_APPLICATION_ID,
        user_version: version,
      });
      assert.throws(
        () => open(path),
        (error) =>
          error instanceof FatalError &&
          /before the first release.* delete \S+index\.db, .* rebuild the index.* keep keys\.db/.test(
            error.message,
          ),
      );
      assert.equal(versionOf(path), version, 'the file stays as it is');
    });
}

test('one writer at a time: a second one is refused with what to do, a reader is not', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  assert.throws(
    () => new IndexWriter(path, { cacheMb: 8 }),
    (error) => error instanceof FatalError && /another atlas-node is writing/.test(error.message),
  );
  openIndexForReading(path).close();
  writer.close();
  new IndexWriter(path, { cacheMb: 8 }).close();
});

test('one writer at a time also where the index is a link', (t) => {
  const path = createIndex(t);
  const link = join(tempDir(t), 'index.db');
  symlinkSync(path, link);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  assert.throws(() => new IndexWriter(link, { cacheMb: 8 }), /another atlas-node is writing/);
  writer.close();
  new IndexWriter(link, { cacheMb: 8 }).close();
});

test('several migrations run in order, each from where the one before ended', async (t) => {
  const { path, migration } = createMigratable(t);
  const seen: string[] = [];
  const onMigration = ({ version, done }: { version: number; done: number }) =>
    seen.push(`${version} ${done}`);
  const migrations = [migration, countingMigration(NEXT_VERSION + 1, FEW_ROWS)];
  (await prepareIndexFile(path, { onMigration, migrations })).release();
  assert.equal(seen.length, 20);
  assert.deepEqual(
    seen.filter((line) => line.endsWith(' 1')),
    [`${NEXT_VERSION} 1`, `${NEXT_VERSION + 1} 1`],
  );
  assert.deepEqual(counted(path), [{ touched: 2, rows: FEW_ROWS }]);
  assert.equal(versionOf(path), NEXT_VERSION + 1);
});

test('a step that fails leaves nothing behind, and the next start repeats it', (t) => {
  const { path, migration } = createMigratable(t);
  const db = openDatabase(path);
  t.after(() => db.close());
  let fails = false;
  const failing: Migration = {
    ...migration,
    step(db, cursor) {
      const next = migration.step(db, cursor);
      fails = !fails;
      if (fails) throw new Error('the disk is full');
      return next;
    },
  };
  let failures = 0;
  while (schemaVersion(db) < migration.version) {
    try {
      for (const _ of migrate(db, [failing]));
    } catch (error) {
      assert.match(String(error), /the disk is full/);
      failures++;
    }
  }
  assert.equal(failures, 10);
  assert.deepEqual(counted(path), [{ touched: 1, rows: FEW_ROWS }]);
});

test('reports a damaged file as damaged, not as awaiting migration', async (t) => {
  const { path, migration } = createMigratable(t);
  const step = () => {
    throw new DamageError('a history page is no blob');
  };
  await assert.rejects(
    prepareIndexFile(path, { onMigration() {}, migrations: [{ ...migration, step }] }),
    (error) =>
      error instanceof FatalError &&
      /^\S+index\.db is damaged \(a history page is no blob\); move it away and start again/.test(
        error.message,
      ),
  );
});

test('a full disk during a migration is reported with what to do, and the next start resumes', async (t) => {
  const { path, migration } = createMigratable(t);
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const migrations = [migration];
  const failing = prepareIndexFile(path, {
    migrations,
    onMigration() {
      throw full;
    },
  });
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof FatalError);
    assert.match(error.message, /could not be migrated: the disk is full .*start again to resume/);
    return true;
  });
  (await prepareIndexFile(path, { onMigration() {}, migrations })).release();
  assert.deepEqual(counted(path), [{ touched: 1, rows: FEW_ROWS }]);
});

test('a migration reports its progress, stops between steps and resumes there', (t) => {
  const db = openDatabase(join(tempDir(t), 'counting.db'));
  t.after(() => db.close());
  countingTable(db);
  const migration = countingMigration(2);
  const first = migrate(db, [migration]);
  const before = [first.next(), first.next(), first.next()].map(({ value }) => value?.done ?? 0);
  first.return();
  assert.ok(before.every((done, i) => done > (before[i - 1] ?? 0)) && before.at(-1)! < 0.5, `${before}`);
  assert.equal(schemaVersion(db), 0);
  const rest = [...migrate(db, [migration])].map(({ done }) => done);
  assert.ok(rest[0]! > before.at(-1)! && rest.at(-1) === 1);
  assert.equal(schemaVersion(db), migration.version);
  assert.equal(db.prepare('SELECT sum(touched) FROM rows').pluck().get(), ROWS, 'each row once');
  assert.equal(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'").pluck().get(), 0);
  assert.deepEqual([...migrate(db, [migration])], [], 'nothing is left to do');
});

test('a process killed at any moment of a migration leaves a file that the next one finishes', async (t) => {
  const path = join(tempDir(t), 'counting.db');
  const db = openDatabase(path);
  countingTable(db);
  db.close();
  const script = join(import.meta.dirname, '../support/index/slow-migration.ts');
  for (let kill = 1; kill <= 5; kill++) {
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    for (let line = 0; line < kill * 3; line++) await once(lines, 'line');
    child.kill('SIGKILL');
    await ended;
  }
  assert.equal(versionOf(path), 0, 'killed before the end');
  const [waiting, done] = counted(path) as { touched: number; rows: number }[];
  assert.deepEqual([waiting?.touched, done?.touched], [0, 1], 'killed after the first step');
  const rest = openDatabase(path);
  for (const _ of migrate(rest, [countingMigration(2)]));
  rest.close();
  assert.deepEqual(counted(path), [{ touched: 1, rows: ROWS }]);
});

test('a start that is stopped during a migration stops after the current step', async (t) => {
  const { path, migration } = createMigratable(t);
  const stopping = new AbortController();
  let steps = 0;
  const onMigration = () => {
    steps++;
    stopping.abort();
  };
  const options = { onMigration, migrations: [migration], signal: stopping.signal };
  (await prepareIndexFile(path, options)).release();
  assert.equal(steps, 1);
  assert.equal(versionOf(path), SCHEMA_VERSION, 'the next start resumes');
  assert.deepEqual(counted(path), [
    { touched: 0, rows: FEW_ROWS - 20 },
    { touched: 1, rows: 20 },
  ]);
});

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

test('a daemon that is stopped while it prepares the index does not start', async (t) => {
  const path = createIndex(t);
  const { config } = parseConfig({ env: {}, flags: { '--data-dir': dirname(path), '--port': '0' } });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const signal = AbortSignal.abort();
  await assert.rejects(startDaemon(config, { log, signal }), (error) => error === signal.reason);
  new IndexWriter(path, { cacheMb: 8 }).close();
});
