import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parseConfig } from '../../src/config.ts';
import { startDaemon } from '../../src/daemon.ts';
import { FatalError } from '../../src/errors.ts';
import { compactRowMigrations } from '../../src/store/compact-row-migrations.ts';
import {
  openIndexForReading,
  openIndexForWriting,
  prepareIndexFile,
  SCHEMA_VERSION,
} from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { MIGRATIONS, type Migration, migrate, schemaVersion } from '../../src/store/migrations.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { TransferKind } from '../../src/types.ts';
import { dumpIndex } from '../support/dump.ts';
import { startIndexer } from '../support/indexer.ts';
import { type PlainBlock, type PlainTransfer, randomBlocks, toBatch } from '../support/random-chain.ts';
import { startNode } from '../support/replay.ts';
import { toFirstSchema } from '../support/schema.ts';
import { COUNTING, countingTable, ROWS } from '../support/slow-migration.ts';
import { tempDir } from '../support/temp-dir.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures');
const CHAIN = join(FIXTURES, 'schema-chain.jsonl.gz');
/** Where the kept files end, and where the chain they are of does. */
const KEPT_HEAD = 18;
const CHAIN_HEAD = 24;

const keptFiles = readdirSync(FIXTURES).filter((name) => /^schema-\d+\.db\.gz$/.test(name));

function unpack(t: TestContext, name: string): string {
  const path = join(tempDir(t), 'index.db');
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, name))));
  return path;
}

function schemaOf(path: string): unknown[] {
  const db = openDatabase(path, { readonly: true });
  const rows = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")
    .all();
  db.close();
  return rows;
}

/** Indexes the fixture chain up to a block into a folder, going on with what is there. */
async function indexTo(t: TestContext, dir: string, head: number): Promise<string> {
  const node = await startNode(t, { files: [CHAIN], head });
  const indexer = startIndexer(t, { http: node.url, dir, index: { startBlock: 1 } });
  await indexer.reaches(head);
  await indexer.client.stop();
  return indexer.path;
}

test('a file of the first schema is kept', () => {
  assert.ok(keptFiles.includes('schema-1.db.gz'), `found ${keptFiles.join(', ')}`);
});

for (const name of keptFiles) {
  test(`${name}, written by an earlier release, opens, equals a fresh index and goes on`, async (t) => {
    const path = unpack(t, name);
    const seen: string[] = [];
    (await prepareIndexFile(path, ({ version, done }) => seen.push(`${version} ${done}`))).release();
    const from = Number(/\d+/.exec(name)?.[0]);
    assert.deepEqual(
      seen.filter((line) => line.endsWith(' 1')),
      MIGRATIONS.filter(({ version }) => version > from).map(({ version }) => `${version} 1`),
    );
    const fresh = await indexTo(t, tempDir(t), KEPT_HEAD);
    assert.deepEqual(schemaOf(path), schemaOf(fresh), 'a released schema was changed: add a migration');
    assert.deepEqual(dumpIndex(path), dumpIndex(fresh));
    await indexTo(t, join(path, '..'), CHAIN_HEAD);
    assert.deepEqual(dumpIndex(path), dumpIndex(await indexTo(t, tempDir(t), CHAIN_HEAD)));
  });
}

test('migrations are numbered one after the other', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, i) => i + 2),
  );
  assert.equal(SCHEMA_VERSION, MIGRATIONS.length + 1);
});

test('a reader refuses a file that is not up to date and says what to do', (t) => {
  const path = unpack(t, 'schema-1.db.gz');
  assert.throws(
    () => openIndexForReading(path),
    (error) => error instanceof FatalError && /older atlas-node.*atlas-node start/.test(error.message),
  );
  openIndexForWriting(path, {}).close();
  openIndexForReading(path).close();
  const db = openDatabase(path);
  db.pragma(`user_version = ${SCHEMA_VERSION - 1}`); // all but the last migration
  db.close();
  assert.throws(() => openIndexForReading(path), /older atlas-node/);
});

test('a file of a newer program is refused and left as it is', (t) => {
  const path = join(tempDir(t), 'index.db');
  const db = openIndexForWriting(path, {});
  db.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
  db.close();
  for (const open of [openIndexForReading, openIndexForWriting]) {
    assert.throws(
      () => open(path, {}),
      (error) => error instanceof FatalError && /newer atlas-node/.test(error.message),
    );
  }
});

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

/** All migrations, those of many pieces in pieces of 50 rows. */
const IN_PIECES: readonly Migration[] = [
  ...MIGRATIONS.filter(({ version }) => version < 4),
  ...compactRowMigrations(50),
  ...MIGRATIONS.filter(({ version }) => version > 8),
];

/** Payments to the last of all addresses, to more with the same prefix than a piece has. */
function lastAddresses(parent: string): PlainBlock {
  const transfers = Array.from(
    { length: 60 },
    (_, i): PlainTransfer => ({
      kind: TransferKind.nativeDirect,
      from: '1'.repeat(40),
      to: `${'f'.repeat(38)}${(255 - i).toString(16)}`,
      token: '',
      logIndex: -1,
      amount: 1n,
      number: null,
    }),
  );
  const transactions = [{ hash: `0x${'aa'.repeat(32)}`, transfers }];
  return { number: 401, hash: `0x${'bb'.repeat(32)}`, parent, timestamp: 1_700_001_000, transactions };
}

/** An index of a random chain as the first release would have left it, and one of the same chain as it is now. */
function oldAndNew(t: TestContext): { old: string; fresh: string } {
  const [old, fresh] = ['old.db', 'fresh.db'].map((name) => {
    const path = join(tempDir(t), name);
    const writer = new IndexWriter(path, { cacheMb: 8 });
    writer.setChain(1, 1);
    const blocks = randomBlocks(1, 400, `0x${'00'.repeat(32)}`, 11);
    writer.append([toBatch([...blocks, lastAddresses(blocks.at(-1)!.hash)])]);
    writer.close();
    return path;
  }) as [string, string];
  const db = openDatabase(old);
  toFirstSchema(db);
  db.close();
  return { old, fresh };
}

test('one writer at a time also where the index is a link', (t) => {
  const dir = tempDir(t);
  const [path, link] = [join(dir, 'index.db'), join(tempDir(t), 'index.db')];
  openIndexForWriting(path, {}).close();
  symlinkSync(path, link);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  assert.throws(() => new IndexWriter(link, { cacheMb: 8 }), /another atlas-node is writing/);
  writer.close();
  new IndexWriter(link, { cacheMb: 8 }).close();
});

test('a file of the first schema that is killed after each piece becomes row for row what a fresh one is', (t) => {
  const { old, fresh } = oldAndNew(t);
  assert.deepEqual(
    IN_PIECES.map(({ version }) => version),
    MIGRATIONS.map(({ version }) => version),
  );
  const pieces = new Map<number, number>();
  for (let done = false; !done; ) {
    const db = openDatabase(old);
    const { value } = migrate(db, IN_PIECES).next();
    if (value) pieces.set(value.version, (pieces.get(value.version) ?? 0) + 1);
    done = schemaVersion(db) === SCHEMA_VERSION;
    db.close();
  }
  for (const version of [4, 5, 6, 7, 8])
    assert.ok(pieces.get(version)! > 3, `pieces of ${version}: ${pieces.get(version)}`);
  const runs = dumpIndex(old).filter((row) => row.startsWith('activity ')).length;
  assert.ok(pieces.get(7)! > runs, `${pieces.get(7)} pieces for ${runs} runs, also where a wallet has many`);
  assert.deepEqual(schemaOf(old), schemaOf(fresh));
  assert.deepEqual(dumpIndex(old), dumpIndex(fresh));
});

test('a piece that fails leaves nothing behind and is done by the next start', (t) => {
  const { old, fresh } = oldAndNew(t);
  const db = openDatabase(old);
  t.after(() => db.close());
  const failing = IN_PIECES.map((migration): Migration => {
    let fails = false;
    return {
      ...migration,
      step(db, cursor) {
        const next = migration.step(db, cursor);
        fails = !fails;
        if (fails) throw new Error('the disk is full');
        return next;
      },
    };
  });
  let failures = 0;
  while (schemaVersion(db) < SCHEMA_VERSION) {
    try {
      for (const _ of migrate(db, failing));
    } catch (error) {
      assert.match(String(error), /the disk is full/);
      failures++;
    }
  }
  assert.ok(failures > 20, `${failures} failures`);
  assert.deepEqual(schemaOf(old), schemaOf(fresh));
  assert.deepEqual(dumpIndex(old), dumpIndex(fresh));
});

test('a damaged file is named as such, not as one that the next start brings up to date', async (t) => {
  const path = unpack(t, 'schema-1.db.gz');
  const db = openDatabase(path);
  db.exec("UPDATE wallets SET recent = 'no run' WHERE id = 2");
  db.close();
  const isNamed = (error: unknown): boolean =>
    error instanceof FatalError &&
    /^\S+index\.db is damaged \(a run of activity is no blob\); move it away and start again/.test(
      error.message,
    );
  await assert.rejects(
    prepareIndexFile(path, () => undefined),
    isNamed,
  );
  assert.throws(() => new IndexWriter(path, { cacheMb: 8 }), isNamed);
});

test('a disk that is full meanwhile is named, with what to do', async (t) => {
  const path = unpack(t, 'schema-1.db.gz');
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const failing = prepareIndexFile(path, () => {
    throw full;
  });
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof FatalError);
    assert.match(
      error.message,
      /could not be brought up to date, the disk is full .*start again: it goes on/,
    );
    return true;
  });
  (await prepareIndexFile(path, () => undefined)).release();
  openIndexForReading(path).close();
});

function newCountingFile(path: string): Db {
  const db = openDatabase(path);
  countingTable(db);
  return db;
}

test('a migration of many pieces tells its progress, stops between pieces and goes on there', (t) => {
  const db = newCountingFile(join(tempDir(t), 'counting.db'));
  t.after(() => db.close());
  const first = migrate(db, [COUNTING]);
  const before = [first.next(), first.next(), first.next()].map(({ value }) => value?.done ?? 0);
  first.return();
  assert.ok(before.every((done, i) => done > (before[i - 1] ?? 0)) && before.at(-1)! < 0.5, `${before}`);
  assert.equal(schemaVersion(db), 0);
  const rest = [...migrate(db, [COUNTING])].map(({ done }) => done);
  assert.ok(rest[0]! > before.at(-1)! && rest.at(-1) === 1);
  assert.equal(schemaVersion(db), COUNTING.version);
  assert.equal(db.prepare('SELECT sum(touched) FROM rows').pluck().get(), ROWS, 'each row once');
  assert.equal(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'").pluck().get(), 0);
  assert.deepEqual([...migrate(db, [COUNTING])], [], 'nothing is left to do');
});

test('a process killed at any moment of a migration leaves a file that the next one finishes', async (t) => {
  const path = join(tempDir(t), 'counting.db');
  newCountingFile(path).close();
  const script = join(import.meta.dirname, '../support/slow-migration.ts');
  for (let kill = 1; kill <= 5; kill++) {
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, kill * 7));
    child.kill('SIGKILL');
    await ended;
  }
  const db = openDatabase(path);
  t.after(() => db.close());
  assert.equal(schemaVersion(db), 0, 'killed before the end');
  assert.ok(
    Number(db.prepare('SELECT sum(touched) FROM rows').pluck().get()) > 0,
    'killed after the beginning',
  );
  for (const _ of migrate(db, [COUNTING]));
  assert.deepEqual(db.prepare('SELECT touched, count(*) AS rows FROM rows GROUP BY touched').all(), [
    { touched: 1, rows: ROWS },
  ]);
});

test('a daemon asked to stop while it brings an index up to date stops after the step it is at', async (t) => {
  const path = unpack(t, 'schema-1.db.gz');
  const { config } = parseConfig({ env: {}, flags: { '--data-dir': dirname(path), '--port': '0' } });
  const stopping = new AbortController();
  const told: unknown[] = [];
  const log = {
    debug() {},
    warn() {},
    error() {},
    info(facts: object) {
      told.push(facts);
      stopping.abort();
    },
  };
  const { signal } = stopping;
  await assert.rejects(startDaemon(config, { log, signal }), (error) => error === signal.reason);
  assert.deepEqual(told, [{ version: 2, title: MIGRATIONS[0]?.title, percent: 100 }]);
  const db = openDatabase(path);
  t.after(() => db.close());
  assert.equal(schemaVersion(db), 2, 'the next start goes on there');
});
