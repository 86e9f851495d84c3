import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { TracingRefusal, TracingRefusedError } from '../../src/indexer/tracing-refusal.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const CHAIN = [...generateChain({ seed: 62, blocks: 20, txPerBlock: 5 }).blocks];
const TRACING = [
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
  'trace_block',
];

test('a refusal is believed once it lasts in the same words, and not for an index with traces', () => {
  let now = 0;
  let untraced = 0;
  const store = {
    head: () => ({
      number: 9,
      hash: '0x' as const,
      timestamp: 0,
      lastTransfer: 0,
      lastWallet: 0,
      transactions: 0,
    }),
    chain: () => ({ chainId: 1, startBlock: 0 }),
    gaps: () => (untraced === 0 ? null : { first: 0, last: 9, blocks: untraced, reasons: [] }),
  };
  const refusal = new TracingRefusal({ ...store, head: () => null, chain: () => null }, 30_000, () => now);
  assert.throws(() => refusal.settle('no'), TracingRefusedError);
  now += 20_000;
  assert.throws(
    () => refusal.settle('never'),
    /refuses to trace any block \("never"\); if it does so for 30 s,/,
  );
  now += 20_000;
  assert.throws(() => refusal.settle('never'), TracingRefusedError, 'other words begin anew');
  now += 20_000;
  refusal.settle('never');
  const traced = new TracingRefusal(store, 0);
  assert.throws(() => traced.settle('no'), /traced others before; .* set index\.traces = false/);
  untraced = 9;
  assert.throws(() => traced.settle('no'), /traced others before/);
  untraced = 10;
  traced.settle('no');
});

test('a node that forbids tracing in words of its own is indexed without traces, also after a restart', async (t) => {
  const node = await startNode(t, { chain: CHAIN });
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  const denied = { code: -32_000, message: 'access denied' };
  proxy.misbehave({ errorFor: Object.fromEntries(TRACING.map((method) => [method, denied])) });
  const options = { http: proxy.url, dir: tempDir(t), index: { confirmMs: 500 } };
  const indexer = startIndexer(t, options);
  await indexer.reaches(20);
  await indexer.client.stop();
  assert.equal(indexer.status().capabilities?.traces, null);
  assert.match(indexer.status().capabilities?.tracesReason ?? '', /refuses every block: access denied/);
  assert.equal(indexer.status().untraced?.blocks, 20);
  const again = startIndexer(t, options);
  await again.reaches(20);
  await waitFor(() => again.status().capabilities !== null, { what: 'the second connection' });
});
