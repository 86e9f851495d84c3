/** Commands run by a user without access to the data folder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeysFile } from '../../src/access/keys-file.ts';
import { SOURCE_FLAGS } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Requires a user whom the system refuses access to foreign files; it refuses root nothing. */
const NOBODY = 65_534;

/** A data folder with keys.db, for its owner alone. */
function dataDir(t: TestContext): string {
  const dir = tempDir(t);
  chmodSync(dir, 0o755);
  const path = join(dir, 'data');
  mkdirSync(path, { mode: 0o700 });
  openKeysFile(join(path, 'keys.db')).close();
  return path;
}

/** The message thrown by `expression`, for a user who may not look into the folder. */
function refusal(dir: string, expression: string): string {
  const from = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const script = `
    import { chmodSync } from 'node:fs';
    import { openKeysFile } from ${from('access/keys-file.ts')};
    import { existingIndexPath } from ${from('cli/options.ts')};
    import { withKeyStore } from ${from('cli/keys.ts')};
    import { copyDatabase } from ${from('store/backup.ts')};
    import { openDatabase } from ${from('store/open-database.ts')};
    openDatabase(':memory:').close(); // loads the driver while its files may be read
    import { openIndexForWriting } from ${from('store/index-file.ts')};
    import { acquireWriterLock } from ${from('store/file-guard.ts')};
    const dir = ${JSON.stringify(dir)};
    const isRoot = process.getuid() === 0;
    if (isRoot) process.setuid(${NOBODY});
    else chmodSync(dir, 0);
    try { await (${expression}); } catch (error) { console.log(error.name + ': ' + error.message); }
    if (!isRoot) chmodSync(dir, 0o700);`;
  const args = [...SOURCE_FLAGS, '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.trim();
}

const ADVICE =
  'permission denied; let one user own the data folder with its files, and run the daemon and all commands';

test('a file hidden from another user is not reported as missing', (t) => {
  const dir = dataDir(t);
  const [index, keys] = [join(dir, 'index.db'), join(dir, 'keys.db')];
  assert.equal(refusal(dir, 'existingIndexPath(dir)'), `FatalError: cannot read ${index}: ${ADVICE}`);
  for (const create of [false, true]) {
    assert.equal(
      refusal(dir, `withKeyStore(dir, () => undefined, { create: ${create} })`),
      `FatalError: cannot read ${keys}: ${ADVICE}`,
    );
  }
});

test('opens a read-only file without write access or a lock, which would exclude no process', (t) => {
  const dir = dataDir(t);
  const open = join(dir, '..', 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const index = join(open, 'index.db');
  const lock = `${index}.lock`;
  for (const file of [index, lock]) writeFileSync(file, '', { mode: 0o444 });
  for (const [call, file] of [
    ['acquireWriterLock', lock],
    ['openIndexForWriting', index],
  ])
    assert.equal(
      refusal(dir, `${call}(${JSON.stringify(index)}, {})`),
      `FatalError: cannot open ${file}: ${ADVICE}`,
    );
});

test('a file that this user may not open is reported with the reason, even as the source of a backup', (t) => {
  const dir = dataDir(t);
  const keys = join(dir, 'keys.db');
  const wanted = `FatalError: cannot open ${keys}: ${ADVICE}`;
  assert.equal(refusal(dir, `openKeysFile(${JSON.stringify(keys)})`), wanted);
  const target = join(tempDir(t), 'copy.db');
  chmodSync(join(target, '..'), 0o777);
  const copy = `copyDatabase(${JSON.stringify(keys)}, ${JSON.stringify(target)}, { isPrivate: true, onProgress() {} })`;
  assert.equal(refusal(dir, copy), wanted);
});
