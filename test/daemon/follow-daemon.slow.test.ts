/** A daemon that uses another daemon as its node. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { freePort } from '../support/free-port.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';

test('a daemon that follows another one has the same index, row for row, also after a fork', async (t) => {
  const own = nestedCleanup(t);
  const { node } = await startGeneratedNode(
    own,
    { seed: 5, blocks: 120, txPerBlock: 8, wallets: 50, tokens: 6 },
    { head: 80, finalizedLag: 60 },
  );
  const metricsPort = await freePort();
  const first = await startTestDaemon(own, {
    flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
    env: {
      ATLAS_INDEX__HEAD: 'latest',
      ATLAS_RPC__ALLOW: 'debug_traceBlockByHash,debug_traceBlockByNumber,trace_block',
      ATLAS_METRICS__LISTEN: `127.0.0.1:${metricsPort}`,
    },
  });
  await first.reaches(80);
  const second = await startTestDaemon(own, {
    flags: {
      '--node-http': `${first.url}/rpc?api_key=${first.key}`,
      '--node-ws': `${first.url.replace('http', 'ws')}/ws?api_key=${first.key}`,
    },
    env: { ATLAS_INDEX__HEAD: 'latest' },
  });
  const equal = () =>
    assert.deepEqual(dumpIndex(join(second.dataDir, 'index.db')), dumpIndex(join(first.dataDir, 'index.db')));
  await second.reaches(80);
  const { capabilities } = second.daemon.status();
  assert.match(String(capabilities?.traces), /trace/, 'with internal transfers');
  equal();

  node.fork(60);
  const head = node.mine(10);
  await Promise.all([first.reaches(head), second.reaches(head)]);
  equal();
  assert.equal(second.daemon.status().deepestReorg, first.daemon.status().deepestReorg);

  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  // Excludes statements about the head, whose number depends on time.
  const calls = metrics.matchAll(
    /^atlas_rpc_requests_total\{method="\w*(?:Receipts|trace)\w*".*\} (\d+)$/gim,
  );
  const perBlock = [...calls].reduce((sum, [, count]) => sum + Number(count), 0) / head;
  assert.ok(perBlock >= 1 && perBlock < 4, `receipts and traces cost the first ${perBlock} calls per block`);
});
