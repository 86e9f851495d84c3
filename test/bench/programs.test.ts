/** External programs of the benchmark that cannot be run. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startNginx } from '../../scripts/bench/load/nginx.ts';
import { hasWrk } from '../../scripts/bench/load/wrk.ts';
import { startDaemonProcess } from '../../scripts/bench/setup/daemon-process.ts';
import { FatalError } from '../../src/lib/errors.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Replaces the whole PATH with a folder during the test. */
function onlyIn(t: TestContext, folder: string): void {
  const { PATH } = process.env;
  process.env.PATH = folder;
  t.after(() => {
    process.env.PATH = PATH;
  });
}

test('a daemon that cannot be started is an error that says why', async (t) => {
  const dir = tempDir(t);
  onlyIn(t, dir); // without taskset, which sets the cores
  const options = { dataDir: join(dir, 'data'), nodeHttp: 'http://127.0.0.1:1', nodeWs: '', cores: '0' };
  await assert.rejects(startDaemonProcess(options), (error) => {
    assert.ok(error instanceof FatalError);
    assert.match(error.message, /^the daemon cannot be started: .*taskset/);
    return true;
  });
});

test('an nginx that cannot be started, or ends at once, is an error with advice', async (t) => {
  const options = { upstreamPort: 1, folder: tempDir(t), cores: null };
  const advice = /does not run here: .*; uninstall it to leave it out$/;
  await assert.rejects(startNginx('/nowhere/nginx', options), advice);
  await assert.rejects(startNginx('/bin/false', options), advice);
});

test('looks for wrk once', async (t) => {
  const dir = tempDir(t);
  const calls = join(dir, 'calls');
  writeFileSync(join(dir, 'wrk'), `#!/bin/sh\necho "$@" >> ${calls}\nexit 1\n`, { mode: 0o755 });
  onlyIn(t, dir);
  assert.deepEqual([await hasWrk(), await hasWrk()], [true, true]);
  assert.equal(readFileSync(calls, 'utf8'), '--version\n');
});
