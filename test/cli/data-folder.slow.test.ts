/** Commands that create a file of the data folder do so only where a daemon will read it. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { run, SOURCE_FLAGS } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const CLI = resolve(import.meta.dirname, '../../src/cli.ts');
const CREATE = ['keys', 'create', '--name', 'a', '--tier', 'free'];

function atlas(t: TestContext, cwd: string, args: string[], env: Record<string, string> = {}) {
  return run(t, [process.execPath, ...SOURCE_FLAGS, CLI, ...args], { cwd, env });
}

test('a key, labels and lists are refused for a missing folder, and for one that holds other files', async (t) => {
  const cwd = tempDir(t);
  const home = join(cwd, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'letter.txt'), '');
  writeFileSync(join(cwd, 'list.csv'), `0x${'1'.repeat(40)},One\n`);
  const commands = [CREATE, ['labels', 'import', 'list.csv'], ['lists', 'import', 'list.csv']];
  for (const command of commands) {
    const missing = await atlas(t, cwd, [...command, '--data-dir', 'none']);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.match(missing.stderr, /^atlas-node: the folder .*none \(flag --data-dir\) does not exist: .*\n$/);
    const wrong = await atlas(t, cwd, command, { ATLAS_DATA_DIR: home });
    assert.equal(wrong.code, 2);
    assert.match(
      wrong.stderr,
      /home \(env ATLAS_DATA_DIR\) is no data folder: it contains letter\.txt .*\n$/,
    );
  }
  assert.deepEqual([existsSync(join(cwd, 'none')), existsSync(join(home, 'keys.db'))], [false, false]);
});

test('labels that no import made are no empty list: the folder may be a wrong one', async (t) => {
  const cwd = tempDir(t);
  for (const folder of [cwd, 'none']) {
    const { code, stderr } = await atlas(t, cwd, ['labels', 'list', '--data-dir', folder]);
    assert.equal(code, 1);
    assert.match(stderr, /^atlas-node: there is no .*labels\.db yet: import names with .*--data-dir, .*\n$/);
  }
  assert.deepEqual([existsSync(join(cwd, 'labels.db')), existsSync(join(cwd, 'none'))], [false, false]);
});

test('the first key can be created before the first start', async (t) => {
  const cwd = tempDir(t);
  const empty = join(cwd, 'empty');
  mkdirSync(join(empty, 'lost+found'), { recursive: true });
  assert.equal((await atlas(t, cwd, [...CREATE, '--data-dir', empty])).code, 0);
  writeFileSync(join(empty, 'note.txt'), '');
  assert.equal((await atlas(t, cwd, [...CREATE, '--data-dir', empty])).code, 0, 'it has keys now');
  const fresh = await atlas(t, cwd, CREATE);
  assert.equal(fresh.code, 0);
  assert.match(fresh.stderr, /^atlas-node: created the data folder .*atlas-data; start .*\n$/);
  const config = join(cwd, 'service.toml');
  writeFileSync(config, 'data_dir = "service-data"\n');
  const named = await atlas(t, cwd, [...CREATE, '--config', config]);
  assert.deepEqual([named.code, named.stderr], [0, '']);
  const init = await atlas(t, cwd, ['init', '--dir', '.']);
  assert.equal(init.code, 0, init.stderr);
});

test('a new key with an expiry in the past is refused', async (t) => {
  const cwd = tempDir(t);
  for (const [expires, message] of [
    ['2020-01-31', /the expiry 2020-01-31T00:00:00\.000Z is in the past: a new key needs one in the future/],
    ['0d', /is in the past/],
    ['2999-02-31', /It must be like 30d/],
  ] as const) {
    const { code, stdout, stderr } = await atlas(t, cwd, [
      ...CREATE,
      '--expires',
      expires,
      '--data-dir',
      cwd,
    ]);
    assert.deepEqual([code, stdout], [2, ''], expires);
    assert.match(stderr, message);
  }
});
