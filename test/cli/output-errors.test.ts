/** Output and a log that cannot be written: /dev/full refuses every byte as a full disk does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAUNCHER, readyUrl, run, start } from '../support/command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

for (const command of ['config show', '--help', '--version']) {
  test(`${command} fails in one line when its output cannot be written`, async (t) => {
    const line = ['/bin/sh', '-c', `exec ${LAUNCHER} ${command} >/dev/full`];
    const { code, stderr } = await run(t, line, { cwd: tempDir(t) });
    assert.match(stderr, /^atlas-node: its output could not be written \(ENOSPC\)[^\n]+\n$/);
    assert.equal(code, 1);
  });
}

const START = `exec ${LAUNCHER} start --node-http http://127.0.0.1:1`;

test('a daemon outlives its log, and still stops with 0', async (t) => {
  const cwd = tempDir(t);
  const daemon = start(t, ['/bin/sh', '-c', `${START} --port 0 2>/dev/full`], { cwd });
  const url = await readyUrl(daemon);
  await waitFor(async () => (await (await fetch(`${url}/status`)).text()).includes('ECONNREFUSED'), {
    what: 'the indexer to have had something to log',
  });
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended).code, 0);
});

test('a daemon outlives its ready line, and still stops with 0', async (t) => {
  const cwd = tempDir(t);
  const daemon = start(t, ['/bin/sh', '-c', `${START} --port 0 >/dev/full`], { cwd });
  await waitFor(() => daemon.stderr().includes('ECONNREFUSED'), {
    what: 'the daemon to have started',
  });
  daemon.child.kill('SIGTERM');
  const { code, stderr } = await daemon.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /"msg":"stopped"/);
});
