import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDataDir } from '../../src/config/load-config.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { SOURCE_FLAGS } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

test('the data folder is created with its parents, for its owner alone', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'new', 'deep');
  makeDataDir(path);
  makeDataDir(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('a data folder that cannot be created is refused with the reason', (t) => {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'file'), '');
  mkdirSync(join(dir, 'there'));
  assert.throws(() => makeDataDir(join(dir, 'file', 'below')), ConfigError);
  assert.throws(
    () => makeDataDir(join(dir, 'there', 'n'.repeat(300))),
    /^ConfigError: data_dir: cannot create/,
  );
});

test('a file system that cannot hold folders is refused, not retried forever', () => {
  const script = `
    import { makeDataDir } from ${JSON.stringify(new URL('../../src/config/load-config.ts', import.meta.url).href)};
    makeDataDir('/proc/atlas-data');`;
  const { status, stderr, signal } = spawnSync(
    process.execPath,
    [...SOURCE_FLAGS, '--input-type=module', '--eval', script],
    { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' },
  );
  assert.equal(signal, null);
  assert.equal(status, 1);
  assert.match(stderr, /data_dir: cannot create \/proc\/atlas-data: no such file/);
});

test('processes that create the same folder at once all succeed', async (t) => {
  const path = join(tempDir(t), ...Array.from({ length: 300 }, (_, i) => String(i)));
  const source = new URL('../../src/config/load-config.ts', import.meta.url).href;
  const script = `const { makeDataDir } = await import('${source}');
    process.stdin.once('data', (at) => {
      while (Date.now() < Number(at)) {}
      makeDataDir('${path}');
      process.exit();
    });
    process.stdout.write('ready');`;
  const args = [...SOURCE_FLAGS, '--input-type=module', '--eval', script];
  const makers = Array.from({ length: 4 }, () => spawn(process.execPath, args));
  const ended = makers.map(async (maker) => (await once(maker, 'exit'))[0]);
  await Promise.all(makers.map(({ stdout }) => once(stdout, 'data')));
  const at = Date.now() + 200;
  for (const { stdin } of makers) stdin.write(String(at));
  assert.deepEqual(await Promise.all(ended), [0, 0, 0, 0]);
});
