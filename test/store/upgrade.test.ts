/** The data folders of earlier releases, kept by test/fixtures/keep-data.ts, under this program. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openKeyStore } from '../../src/access/keys.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { copyDatabase } from '../../src/store/backup.ts';
import { openIndexForReading, openIndexForWriting, SCHEMA_VERSION } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { migrate, schemaVersion } from '../../src/store/migrations/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { SOURCE_FLAGS } from '../support/daemon/command.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { countingMigration, countingTable } from '../support/index/slow-migration.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const RELEASES = readdirSync(FIXTURES).filter((name) => name.startsWith('data-'));
const NO_NODE = 'http://127.0.0.1:1';
/** Enough for a migration of a second. */
const ROWS = 10_000;
const NEXT_VERSION = SCHEMA_VERSION + 1;
const SLOW_MIGRATION = join(import.meta.dirname, '../support/index/slow-migration.ts');

/** The data folder of a release. */
function unpack(owner: Parameters<typeof tempDir>[0], release: string): string {
  const dir = tempDir(owner);
  for (const name of ['index.db', 'keys.db']) writeFileSync(join(dir, name), read(release, name));
  return dir;
}

function read(release: string, name: string): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, release, `${name}.gz`)));
}

/** The index of the newest release at the current schema, with work for a test migration. */
function unpackMigratable(t: TestContext): string {
  const path = join(unpack(t, RELEASES.sort().at(-1) ?? ''), 'index.db');
  openIndexForWriting(path, {}).close();
  const db = openDatabase(path);
  countingTable(db, ROWS);
  db.close();
  return path;
}

/** The SQL of every table and index, without comments and what ALTER TABLE spaces otherwise. */
function schemaOf(path: string): string[] {
  const db = openIndexForReading(path);
  try {
    const texts = db.prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all();
    const normal = (text: string) =>
      text
        .replace(/--.*$/gm, '')
        .replace(/\s+/g, ' ')
        .replace(/ ?([,()]) ?/g, '$1');
    return texts.map(normal).sort();
  } finally {
    db.close();
  }
}

for (const release of RELEASES) {
  test(`${release}: a migrated index is intact and has the tables of a new one`, async (t) => {
    const path = join(unpack(t, release), 'index.db');
    openIndexForWriting(path, {}).close();
    const created = join(tempDir(t), 'index.db');
    openIndexForWriting(created, {}).close();
    assert.deepEqual(schemaOf(path), schemaOf(created));
    assert.deepEqual(differencesOf(await verifyAlone(path)), []);
    const writer = new IndexWriter(path, { cacheMb: 8 });
    while (writer.incompleteDerived().length > 0) writer.deriveStep(1_000);
    writer.close();
    const completed = await verifyAlone(path);
    assert.deepEqual(differencesOf(completed), []);
    assert.deepEqual(completed.checks.find(({ name }) => name === 'tokens')?.notes, []);
  });

  test(`${release}: the daemon starts on it, answers as that release did and knows its keys`, async (t) => {
    const cleanup = nestedCleanup(t);
    const dataDir = unpack(cleanup, release);
    const { get, url } = await startTestDaemon(cleanup, { flags: { '--node-http': NO_NODE }, dataDir });
    const answers: Record<string, object> = JSON.parse(read(release, 'answers.json').toString());
    assert.ok(Object.keys(answers).length > 0);
    for (const [request, answer] of Object.entries(answers)) {
      const [path = '', query] = request.split('?');
      const now = await get(path, Object.fromEntries(new URLSearchParams(query)));
      assert.partialDeepStrictEqual(now, answer, request); // later releases may add fields
    }
    const isComplete = async () => {
      const status: { derived: unknown[] } = JSON.parse(await (await fetch(`${url}/status`)).text());
      return status.derived.length === 0;
    };
    await waitFor(isComplete, { what: 'the index to be complete, without a node' });
    const keys = openKeyStore(join(dataDir, 'keys.db'));
    cleanup.after(() => keys.close());
    assert.deepEqual(
      keys.list().map(({ name }) => name),
      ['kept', 'test'],
    );
  });
}

test('an index of the last release that is killed while migrating is finished later, its rows untouched', async (t) => {
  const path = unpackMigratable(t);
  const before = dumpIndex(path);
  const command = [...SOURCE_FLAGS, SLOW_MIGRATION, path, `${NEXT_VERSION}`, `${ROWS}`];
  const migration = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(migration.stdout);
  for (let line = 0; line < 5; line++) await once(lines, 'line');
  migration.kill('SIGKILL');
  await once(migration, 'exit');

  const db = openDatabase(path);
  assert.equal(schemaVersion(db), SCHEMA_VERSION, 'the kill came before the end');
  for (const _ of migrate(db, [countingMigration(NEXT_VERSION, ROWS)]));
  assert.equal(schemaVersion(db), NEXT_VERSION);
  assert.deepEqual(db.prepare('SELECT DISTINCT touched FROM rows').pluck().all(), [1]);
  db.close();
  assert.deepEqual(dumpIndex(path), before);
});

test('going back from a later release works through a backup', async (t) => {
  const path = unpackMigratable(t);
  const before = dumpIndex(path);
  const backup = `${path}.backup`;
  (await copyDatabase(path, backup, { isPrivate: true, onProgress: () => undefined })).publish();

  const db = openDatabase(path);
  for (const _ of migrate(db, [countingMigration(NEXT_VERSION, ROWS)]));
  db.close();
  assert.throws(() => openIndexForReading(path), FatalError);

  renameSync(backup, path);
  openIndexForReading(path).close();
  assert.deepEqual(dumpIndex(path), before);
});
