import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { choosePrivateFolder } from '../../src/binary/addon.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { SOURCE_FLAGS } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const uid = process.getuid?.() ?? 0;

/** A home and a folder for temporary files, both empty. */
function surroundings(t: TestContext) {
  const dir = tempDir(t);
  const paths = { home: join(dir, 'home'), temp: join(dir, 'tmp') };
  for (const path of Object.values(paths)) mkdirSync(path);
  return { ...paths, dir, uid, env: {} };
}

test('XDG_CACHE_HOME comes first, then the home, then the folder for temporary files', (t) => {
  const here = surroundings(t);
  const env = { XDG_CACHE_HOME: join(here.dir, 'cache') };
  assert.equal(choosePrivateFolder({ ...here, env }), join(here.dir, 'cache', 'atlas-node'));
  assert.equal(choosePrivateFolder(here), join(here.home, '.cache', 'atlas-node'));
  writeFileSync(join(here.dir, 'file'), '');
  const homeless = { ...here, home: join(here.dir, 'file') };
  assert.equal(choosePrivateFolder(homeless), join(here.temp, `atlas-node-${uid}`));
});

test('a relative XDG_CACHE_HOME is ignored, as its specification demands', (t) => {
  const here = surroundings(t);
  const folder = choosePrivateFolder({ ...here, env: { XDG_CACHE_HOME: 'cache' } });
  assert.equal(folder, join(here.home, '.cache', 'atlas-node'));
});

test('restricts the folder to its user, even if it was open to others before', (t) => {
  const here = surroundings(t);
  const folder = choosePrivateFolder(here);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  chmodSync(folder, 0o777);
  assert.equal(choosePrivateFolder(here), folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a folder of another user, or a link, is never taken', (t) => {
  const here = surroundings(t);
  const homeless = { ...here, home: '' };
  mkdirSync(join(here.temp, `atlas-node-${uid + 1}`), { mode: 0o700 });
  assert.throws(() => choosePrivateFolder({ ...homeless, uid: uid + 1 }), {
    name: 'FatalError',
    message: /cannot be unpacked to .*atlas-node-\d+, .* set XDG_CACHE_HOME to another folder$/,
  });
  mkdirSync(join(here.dir, 'elsewhere'));
  symlinkSync(join(here.dir, 'elsewhere'), join(here.temp, `atlas-node-${uid}`));
  assert.throws(() => choosePrivateFolder(homeless), FatalError);
});

test('a home on a file system that cannot hold folders is skipped, not retried forever', (t) => {
  const { temp } = surroundings(t);
  const source = new URL('../../src/binary/addon.ts', import.meta.url).href;
  const script = `
    import { choosePrivateFolder } from ${JSON.stringify(source)};
    console.log(choosePrivateFolder({ env: {}, home: '/proc', temp: ${JSON.stringify(temp)}, uid: ${uid} }));`;
  const { stdout, signal } = spawnSync(
    process.execPath,
    [...SOURCE_FLAGS, '--input-type=module', '--eval', script],
    { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' },
  );
  assert.equal(signal, null);
  assert.equal(stdout.trim(), join(temp, `atlas-node-${uid}`));
});
