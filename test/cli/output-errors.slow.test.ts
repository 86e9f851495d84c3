/** Unwritable output and log: /dev/full refuses every byte like a full disk; or nobody reads it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { openKeyStore } from '../../src/access/keys.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { LAUNCHER, readyUrl, run, start } from '../support/daemon/command.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { startNode } from '../support/nodes/replay.ts';
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

/** Runs a command whose reader exits before it prints. */
function runUnread(t: TestContext, command: string) {
  const line = `${LAUNCHER} ${command} | true; exit "\${PIPESTATUS[0]}"`;
  return run(t, ['/bin/bash', '-c', line], { cwd: tempDir(t) });
}

test('commands without a reader finish their work and report the result in the exit code', async (t) => {
  const chain = [...generateChain({ seed: 5, blocks: 12, txPerBlock: 10 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const indexPath = await buildIndex({ url: node.url, dir, startBlock: 1 });
  const options = `--data-dir ${dir}`;
  openKeyStore(join(dir, 'keys.db')).close();
  const folder = tempDir(t);
  assert.equal((await runUnread(t, `backup ${folder} ${options}`)).code, 0);
  for (const file of ['keys.db', 'index.db']) assert.ok(existsSync(join(folder, file)), file);

  const verify = `verify --node-http ${node.url} ${options}`;
  assert.equal((await runUnread(t, verify)).code, 0);
  const db = openDatabase(indexPath);
  db.exec('UPDATE wallets SET transfers = transfers + 1 WHERE id = 5');
  db.close();
  const differing = await runUnread(t, verify);
  assert.match(differing.stderr, /^atlas-node: the index differs/);
  assert.equal(differing.code, 1);
});

test('status --watch exits cleanly when its reader is gone', async (t) => {
  const status = JSON.stringify({ phase: 'following', head: null, capabilities: null });
  const server = createServer((_, response) => response.end(status)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { code, stderr } = await runUnread(t, `status --watch --json --url http://127.0.0.1:${address.port}`);
  assert.deepEqual([code, stderr], [0, '']);
});

const START = `exec ${LAUNCHER} start --node-http http://127.0.0.1:1`;

test('a daemon survives the loss of its log, and still exits with 0', async (t) => {
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

test('a daemon survives the loss of the reader of its ready line, and still exits with 0', async (t) => {
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
