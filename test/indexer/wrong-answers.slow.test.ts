/** Nodes that answer wrongly, fall behind, or change their chain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FatalError } from '../../src/lib/errors.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { type MisbehavingNode, NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { ask, startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { chainOf, freshIndex } from './indexed.ts';

test('a node that goes backwards or restarts its sync rolls nothing back', async (t) => {
  const node = await startNode(t, { chain: chainOf(4, 50), head: 50 });
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(50);
  node.setHead(20);
  await waitFor(() => indexer.status().nodeHead === 20, { what: 'the lower head to be seen' });
  node.setHead(50);
  await waitFor(() => indexer.status().nodeHead === 50, { what: 'the head to be back' });
  await indexer.client.stop();
  assert.equal(indexer.status().reorgs, 0);
  assert.equal(indexer.status().head?.number, 50);
});

test('while the node is away the reason is shown, and indexing resumes when it is back', async (t) => {
  const real = await startNode(t, { chain: chainOf(5, 40), head: 20 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  node.misbehave({ wire: { kind: 'reset' } });
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await waitFor(() => indexer.status().reason, { what: 'a reason' });
  assert.equal(indexer.status().phase, 'starting');
  node.misbehave({});
  await indexer.reaches(20);
  assert.equal(indexer.status().reason, null);
  node.misbehave({
    wire: { kind: 'body', status: 502, text: '<html>Bad gateway</html>', type: 'text/html' },
  });
  real.setHead(40);
  await waitFor(() => indexer.status().phase === 'paused' && /502/.test(indexer.status().reason ?? ''), {
    what: 'the 502 to be the reason',
  });
  node.misbehave({});
  await indexer.reaches(40);
  await indexer.client.stop();
});

type Corruption = (node: MisbehavingNode) => void;

const corruptions: [string, Corruption][] = [
  [
    'nulls for receipts near the tip',
    (node) => node.misbehave({ nullFor: ['eth_getBlockReceipts'], times: 5 }),
  ],
  [
    'blocks of another number',
    (node) =>
      node.misbehave({
        times: 5,
        replace: (method, _params, result) =>
          method === 'eth_getBlockByNumber' ? { ...(result as object), number: '0x1' } : result,
      }),
  ],
  [
    'receipts of another block',
    (node) =>
      node.misbehave({
        times: 5,
        replace: (method, _params, result) =>
          method === 'eth_getBlockReceipts'
            ? (result as object[]).map((receipt) => ({
                ...receipt,
                blockHash: `0x${'9'.repeat(64)}`,
                logs: [],
              }))
            : result,
      }),
  ],
  [
    'traces in another order',
    (node) =>
      node.misbehave({
        times: 5,
        replace: (method, _params, result) =>
          method === 'debug_traceBlockByHash' ? (result as unknown[]).slice().reverse() : result,
      }),
  ],
  [
    'a parent hash of nobody',
    (node) =>
      node.misbehave({
        times: 5,
        replace: (method, params, result) =>
          method === 'eth_getBlockByNumber' && params[1] === true
            ? { ...(result as object), parentHash: `0x${'8'.repeat(64)}` }
            : result,
      }),
  ],
  [
    'values that are no numbers',
    (node) =>
      node.misbehave({
        times: 5,
        replace: (method, _params, result) =>
          method === 'eth_getBlockByNumber' ? { ...(result as object), timestamp: 'yesterday' } : result,
      }),
  ],
  [
    'answers cut off half-way',
    (node) => node.misbehave({ wire: { kind: 'truncate', afterBytes: 5_000 }, times: 5 }),
  ],
  [
    'garbage instead of JSON',
    (node) => node.misbehave({ wire: { kind: 'body', status: 200, text: '{"jsonrpc":"2.0",' }, times: 5 }),
  ],
  ['batches with a reply too few', (node) => node.misbehave({ order: 'last-missing', times: 5 })],
  ['batches in reverse order', (node) => node.misbehave({ order: 'reversed' })],
];

test('whatever a node answers wrongly, nothing wrong is stored and the index ends equal to the truth', async (t) => {
  const blocksEach = 5;
  const blocks = 10 + corruptions.length * blocksEach;
  const real = await startNode(t, { chain: chainOf(6, blocks), head: 10 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(10);
  for (const [i, [what, corrupt]] of corruptions.entries()) {
    t.diagnostic(`${what} from block ${11 + i * blocksEach}`);
    const before = node.requests.length;
    corrupt(node);
    const head = 10 + (i + 1) * blocksEach;
    real.setHead(head);
    await indexer.reaches(head);
    assert.ok(node.requests.length > before);
  }
  await indexer.client.stop();
  assert.deepEqual(dumpIndex(indexer.path), await freshIndex(t, real.url));
});

test('a node on another chain than the index is refused', async (t) => {
  const dir = tempDir(t);
  const first = await startNode(t, { chain: chainOf(7, 5), chainId: 1 });
  const indexer = startIndexer(t, { http: first.url, dir });
  await indexer.reaches(5);
  await indexer.client.stop();
  const other = await startNode(t, { chain: chainOf(7, 5), chainId: 2 });
  const refused = startIndexer(t, { http: other.url, dir });
  await assert.rejects(
    refused.client.ended,
    (error) => error instanceof FatalError && /chain 1 but the node is on chain 2/.test(error.message),
  );
});

test('another chain behind the same address stops the index, which resumes when the right one is back', async (t) => {
  const one = await startNode(t, { chain: chainOf(7, 30), chainId: 1, head: 20 });
  const two = await startNode(t, { chain: chainOf(8, 40), chainId: 2 });
  let current = one.url;
  const node = await startMisbehavingNode({
    async answer(method, params) {
      const { result, error } = await ask(current, method, ...params);
      if (error !== undefined) throw new NodeError(error.code, error.message);
      return result;
    },
  });
  t.after(() => node.close());
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(20);
  current = two.url;
  await waitFor(() => indexer.status().nodeChain === 'another_chain', {
    what: 'the other chain to be noticed',
  });
  assert.equal(indexer.status().phase, 'paused');
  assert.match(
    indexer.status().reason ?? '',
    /another chain: its (chain id is 2, the index has 1|block 1 is 0x\w+, the index has 0x)/,
  );
  current = one.url;
  one.setHead(30);
  await indexer.reaches(30);
  assert.equal(indexer.status().nodeChain, 'same');
  assert.deepEqual(
    indexer.watermarks.filter(({ kind }) => kind === 'rolled-back'),
    [],
  );
});

test('ignores a reorg from a node that reports no chain id, even if the indexer stops meanwhile', async (t) => {
  const real = await startNode(t, { chain: chainOf(7, 30), head: 20 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(20);
  node.misbehave({ errorFor: { eth_chainId: { code: -32_603, message: 'not now' } } });
  await real.fork(18);
  real.mine();
  await waitFor(() => /eth_chainId: not now/.test(indexer.status().reason ?? ''), { what: 'the reason' });
  await indexer.client.stop();
  assert.ok(indexer.watermarks.every(({ kind }) => kind === 'committed'));
  assert.equal(indexer.status().head?.number, 20);
});

test('one answer of a lagging backend on a stale branch rolls nothing back', async (t) => {
  const real = await startNode(t, { chain: chainOf(9, 40), head: 40, finalizedLag: 0 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  for (const head of ['latest', 'finalized'] as const) {
    node.misbehave({});
    const indexer = startIndexer(t, { http: node.url, dir: tempDir(t), index: { head } });
    await indexer.reaches(40);
    const asked = node.requests.length;
    node.misbehave({
      times: 1,
      when: ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === head,
      replace: (_method, _params, result) => ({
        ...(result as object),
        number: '0x26',
        hash: `0x${'5b'.repeat(32)}`,
      }),
    });
    await waitFor(() => node.requests.length > asked + 10, { what: 'further looks at the head' });
    await indexer.client.stop();
    assert.deepEqual(
      indexer.watermarks.filter(({ kind }) => kind === 'rolled-back'),
      [],
    );
    assert.ok(!indexer.logs.some((line) => /differs from the index/.test(line)), indexer.logs.join('\n'));
  }
});

test('a node whose chain breaks above the index’s head is named as the reason for the pause', async (t) => {
  const real = await startNode(t, { chain: chainOf(9, 40), head: 20 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(20);
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x15'
        ? { ...(result as object), parentHash: `0x${'5b'.repeat(32)}` }
        : result,
  });
  real.setHead(21);
  await waitFor(
    () => /the node's block 21 is not a child of its block 20/.test(indexer.status().reason ?? ''),
    {
      what: 'the reason',
    },
  );
  assert.equal(indexer.status().phase, 'paused');
  node.misbehave({});
  await indexer.reaches(21);
});
