import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { startDaemon } from '../../src/daemon.ts';
import { FatalError } from '../../src/lib/errors.ts';
import {
  checkIndexFile,
  openIndexForReading,
  openIndexForWriting,
  prepareIndexFile,
  SCHEMA_VERSION,
} from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { latestVersion, MIGRATIONS, migrate, schemaVersion } from '../../src/store/migrations/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { DEVELOPMENT_APPLICATION_ID, SCHEMA } from '../../src/store/schema.ts';
import { DamageError } from '../../src/store/storage-error.ts';
import {
  counted,
  countingMigration,
  countingTable,
  ROWS,
  versionOf,
} from '../support/index/slow-migration.ts';
import { tempDir } from '../support/temp-dir.ts';
import { createIndex } from './migratable.ts';

/**
 * SHA-256 of the schema without comments and spaces. Once a schema is released, it changes only together with
 * SCHEMA_VERSION.
 */
const FROZEN = { version: 17, hash: '1f1905d732bd8477fef613260a3fd7fad4366c11cab8f8456667e972d9795179' };

/** Few enough rows for a migration in 10 steps. */
const FEW_ROWS = 200;

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

test('a daemon that is stopped while it prepares the index does not start', async (t) => {
  const path = createIndex(t);
  const { config } = parseConfig({ env: {}, flags: { '--data-dir': dirname(path), '--port': '0' } });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const signal = AbortSignal.abort();
  await assert.rejects(startDaemon(config, { log, signal }), (error) => error === signal.reason);
  new IndexWriter(path, { cacheMb: 8 }).close();
});
