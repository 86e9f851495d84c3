/** The file of keys: damaged, foreign, read-only, moved away or replaced. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAccess } from '../../src/access/access.ts';
import { openKeyStore } from '../../src/access/keys.ts';
import { toKeysStorageError } from '../../src/access/keys-file.ts';
import { UsageCounter } from '../../src/access/usage.ts';
import { FatalError, StorageError } from '../../src/lib/errors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { tempDir } from '../support/temp-dir.ts';
import { openStore } from './key-store.ts';

test('the advice for a file damaged in use is not to delete the file', (t) => {
  const { store, path } = openStore(t);
  const error = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' });
  const translated = toKeysStorageError(error, store.db);
  assert.ok(translated instanceof FatalError);
  assert.ok(translated.message.startsWith(`${path} is damaged`));
  assert.match(translated.message, /restore a copy made by atlas-node backup/);
  assert.doesNotMatch(translated.message, /rebuilt/);
});

test('other files are refused with advice', (t) => {
  const dir = tempDir(t);
  const damaged = join(dir, 'damaged.db');
  writeFileSync(damaged, 'this is no database, but long enough to be looked at as one'.repeat(100));
  assert.throws(() => openKeyStore(damaged), {
    name: 'DamagedFileError',
    message: /damaged.*atlas-node backup/,
  });

  const foreign = join(dir, 'foreign.db');
  const db = openDatabase(foreign);
  db.exec('CREATE TABLE notes (text)');
  db.close();
  assert.throws(() => openKeyStore(foreign), {
    name: 'FatalError',
    message: /does not hold atlas-node keys/,
  });

  const newer = join(dir, 'newer.db');
  const store = openKeyStore(newer);
  store.db.pragma('user_version = 99');
  store.close();
  assert.throws(() => openKeyStore(newer), { name: 'FatalError', message: /newer atlas-node \(schema 99/ });

  assert.throws(() => openKeyStore(join(dir, 'missing', 'keys.db')), {
    name: 'FatalError',
    message: /cannot open/,
  });
});

/** Opens the file named by its second argument like a daemon, but not as root, and prints the outcome. */
const OPEN_AS_NOBODY = `
  const { openAccess } = await import(process.argv[1]);
  if (process.getuid() === 0) {
    process.setgid(65534);
    process.setuid(65534);
  }
  try {
    openAccess(process.argv[2], {});
    console.log('opened');
  } catch ({ name, message }) {
    console.log(name + ': ' + message);
  }`;

test('the daemon does not start with a read-only file, which could not store usage', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'keys.db');
  openKeyStore(path).close();
  chmodSync(dir, 0o777);
  const module = new URL('../../src/access/access.ts', import.meta.url).href;
  for (const mode of [0o444, 0o000]) {
    chmodSync(path, mode);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', OPEN_AS_NOBODY, module, path],
      { encoding: 'utf8' },
    );
    assert.match(stdout, /^FatalError: cannot open .*keys\.db: permission denied; let one user own/, stderr);
  }
});

test('a folder in place of the file is named as such', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'keys.db');
  mkdirSync(path);
  const named = /cannot open .*keys\.db: it is a folder; move it away/;
  assert.throws(() => openAccess(path, {}), named);
  assert.throws(() => openIndexForReading(path), named);
});

test('a file that was moved or replaced gets no further writes', (t) => {
  const { store, path } = openStore(t);
  const { key, record } = store.create({ name: 'app', tier: 'free' });
  const failures: (string | null)[] = [];
  const usage = new UsageCounter(store.db, 0, (error) => failures.push(error?.message ?? null));
  t.after(() => usage.close());
  const files = ['', '-wal', '-shm'].map((suffix) => path + suffix);
  for (const file of files) renameSync(file, `${file}.away`);

  usage.add(record.id, 1, 0);
  usage.flush();
  const gone = (error: unknown) =>
    error instanceof StorageError && /keys\.db was removed or moved away/.test(error.message);
  assert.throws(() => store.create({ name: 'lost', tier: 'free' }), gone);
  assert.throws(() => store.rotate(record.id), gone);
  assert.throws(() => store.revoke(record.id), gone);
  assert.equal(store.verify(key)?.id, record.id, 'the keys in memory stay valid');
  writeFileSync(path, '');
  assert.throws(() => store.create({ name: 'lost', tier: 'free' }), /keys\.db was replaced/);

  for (const file of files) renameSync(`${file}.away`, file);
  usage.flush();
  assert.match(failures[0] ?? '', /moved away/);
  assert.deepEqual(failures.slice(1), [null]);
  assert.deepEqual(
    store.list().map(({ name, revokedAt }) => [name, revokedAt]),
    [['app', null]],
  );
  store.create({ name: 'kept', tier: 'free' });
});
