/** Messages name a setting as the operator gave it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { nameSettings, settingName, settingWord } from '../../src/lib/setting-name.ts';
import { LAUNCHER, run as runCommand } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a setting is named by its flag, its variable, its line in a file, or its path', (t) => {
  t.after(() => nameSettings({}));
  const { names } = parseConfig({
    file: { path: '/etc/atlas/atlas.toml', text: '# mine\n[index]\nhead = "latest"\nmax_reorg = 7\n' },
    env: { ATLAS_INDEX__MAX_REORG: '8', ATLAS_CHAIN__SYMBOL: 'ETH' },
    flags: { '--start-block': '5' },
  });
  nameSettings(names);
  assert.equal(settingName('index.start_block'), '--start-block');
  assert.equal(settingName('index.max_reorg'), 'ATLAS_INDEX__MAX_REORG', 'the variable overrides the file');
  assert.equal(settingName('index.head'), 'index.head (atlas.toml line 3)');
  assert.equal(settingWord('index.head'), 'index.head');
  assert.equal(settingName('index.traces'), 'index.traces');
});

test('a list of the environment that has no commas is told about them, one in a file is not', () => {
  const env = { ATLAS_RPC__ALLOW: 'trace_block debug_traceCall' };
  assert.throws(
    () => parseConfig({ env }),
    /^ConfigError: rpc\.allow must be a list of .*, separated by commas/,
  );
  const file = { path: 'atlas.toml', text: '[rpc]\nallow = ["a b"]\n' };
  assert.throws(
    () => parseConfig({ file }),
    (error: Error) => !error.message.includes('commas'),
  );
  const json = parseConfig({ env: { ATLAS_RPC__ALLOW: '["trace_block", "debug_traceCall"]' } });
  assert.deepEqual(json.config.rpc.allow, ['trace_block', 'debug_traceCall']);
});

test('a command names the folder as it was given', async (t) => {
  const dir = tempDir(t);
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(join(dir, 'index.db'));
  db.exec('CREATE TABLE other (id); PRAGMA application_id = 1234');
  db.close();
  const run = async (args: string[], env = {}) =>
    (await runCommand(t, [LAUNCHER, 'verify', '--file', ...args], { cwd: tempDir(t), env })).stderr;
  assert.match(await run(['--data-dir', dir]), /or choose another --data-dir\n$/);
  assert.match(await run([], { ATLAS_DATA_DIR: dir }), /or choose another ATLAS_DATA_DIR\n$/);
  const file = join(tempDir(t), 'my.toml');
  writeFileSync(file, `data_dir = ${JSON.stringify(dir)}\n`);
  assert.match(await run(['--config', file]), /or choose another data_dir \(my\.toml line 1\)\n$/);
});
