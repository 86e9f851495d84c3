import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { resultOf, startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const chainOf = (seed: number, blocks: number) => [...generateChain({ seed, blocks, txPerBlock: 10 }).blocks];

/** A growing chain behind a node whose WebSocket can be corrupted. */
async function behindProxy(t: TestContext, seed: number) {
  const real = await startNode(t, { chain: chainOf(seed, 60), head: 10 });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  return { real, node };
}

test('heads that are announced twice, late, or not at all are each indexed once', async (t) => {
  const { real, node } = await behindProxy(t, 61);
  const held: string[] = [];
  const isHead = (text: string) => text.includes('eth_subscription');
  let heads = 0;
  node.misbehave({
    relay(text) {
      if (!isHead(text)) return [text];
      switch (heads++ % 4) {
        case 0:
          return [text, text];
        case 1:
          return [];
        case 2:
          held.push(text);
          return [];
        default:
          return [text, ...held.splice(0)];
      }
    },
  });
  const index = { pollMs: 1_000 };
  const indexer = startIndexer(t, { http: node.url, ws: node.wsUrl, dir: tempDir(t), index });
  await indexer.reaches(10);
  for (let head = 11; head <= 60; head++) {
    real.mine();
    if (head % 8 === 0)
      await waitFor(() => (indexer.status().head?.number ?? 0) >= head - 3, { what: `block ${head}` });
  }
  await indexer.reaches(60);
  await indexer.client.stop();
  assert.equal(indexer.status().reorgs, 0);
  const committed = indexer.watermarks.flatMap((mark) =>
    mark.kind === 'committed' ? [mark.from, mark.to] : [],
  );
  assert.deepEqual(
    committed,
    committed.toSorted((a, b) => a - b),
    'in order and without overlap',
  );
});

const isReceipts = ({ method }: { method: string }) => method === 'eth_getBlockReceipts';

test('reports a persistently refused call, but not a briefly refused one', async (t) => {
  const { real, node } = await behindProxy(t, 63);
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(10);
  const busy = { code: -32_603, message: 'overloaded, try again later' };
  const told = () => indexer.logs.filter((line) => line.includes(busy.message));
  for (let head = 11; head <= 15; head++) {
    node.misbehave({ times: 3, when: isReceipts, errorFor: { eth_getBlockReceipts: busy } });
    real.mine();
    await indexer.reaches(head);
  }
  assert.deepEqual(told(), []);
  node.misbehave({ errorFor: { eth_getBlockReceipts: busy } });
  real.mine();
  await waitFor(() => told().length > 0, { what: 'the refusals to be told' });
  node.misbehave({});
  await indexer.reaches(16);
  assert.equal(told().length, 2, 'when it began and when it was over');
});

test('the node’s chain is checked again only after a failure, not for every block', async (t) => {
  const { real, node } = await behindProxy(t, 64);
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(10);
  real.mine();
  await indexer.reaches(11); // before it comes the check that the first commit asks for, which identifies the chain
  const asked = () =>
    node.requests.flatMap(({ calls }) => calls).filter(({ method }) => method === 'eth_chainId').length;
  const before = asked();
  for (let head = 12; head <= 21; head++) {
    real.mine();
    await indexer.reaches(head);
  }
  assert.equal(asked(), before);
  const errorFor = { eth_getBlockReceipts: { code: -32_603, message: 'overloaded' } };
  node.misbehave({ times: 1, when: isReceipts, errorFor });
  real.mine();
  await indexer.reaches(22);
  assert.equal(asked(), before + 1);
});

for (const [what, head] of [
  ['the next block', 11],
  ['many blocks', 60],
] as const) {
  test(`a stop does not wait for a node that hangs on a request for ${what}`, async (t) => {
    const { real, node } = await behindProxy(t, 65);
    const indexer = startIndexer(t, { http: node.url, dir: tempDir(t), node: { timeoutMs: 60_000 } });
    await indexer.reaches(10);
    let asked = false;
    node.misbehave({
      wire: { kind: 'hang' },
      when({ method }) {
        asked ||= method === 'eth_getBlockReceipts';
        return method === 'eth_getBlockReceipts';
      },
    });
    real.setHead(head);
    await waitFor(() => asked, { what: 'the node to be asked' });
    const startedAt = performance.now();
    await indexer.client.stop();
    const seconds = (performance.now() - startedAt) / 1000;
    assert.ok(seconds < 10, `${seconds} s`);
  });
}

test('an upstream that answers from nodes at different heights causes no rollback', async (t) => {
  const { real, node } = await behindProxy(t, 62);
  let turn = 0;
  const stale = await resultOf(real.url, 'eth_getBlockByNumber', '0x5', false);
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' && turn++ % 2 === 0 ? stale : result,
  });
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  real.setHead(60);
  await indexer.reaches(60);
  await waitFor(() => indexer.status().nodeHead === 5, { what: 'the stale head to be seen again' });
  await indexer.client.stop();
  assert.equal(indexer.status().reorgs, 0);
});

test('indexing waits for a node that limits the rate, and the status says so', async (t) => {
  const { real, node } = await behindProxy(t, 63);
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(10);
  node.misbehave({
    wire: { kind: 'body', status: 429, text: '{"error":"too many requests"}', type: 'application/json' },
  });
  real.setHead(60);
  await waitFor(() => indexer.status().phase === 'paused' && /HTTP 429/.test(indexer.status().reason ?? ''), {
    what: 'the 429 to be the reason',
  });
  const asked = node.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(node.requests.length - asked < 20, 'it is asked ever more seldom');
  node.misbehave({});
  await indexer.reaches(60);
  await indexer.client.stop();
});

test('a fork below finality stops indexing, rolls nothing back, and indexing resumes after recovery', async (t) => {
  const real = await startNode(t, { chain: chainOf(64, 80), head: 44, finalizedLag: 2 });
  const logs: string[] = [];
  const note = (fields: object, msg: string) => logs.push(`${msg} ${JSON.stringify(fields)}`);
  const { daemon, url, dataDir } = await startTestDaemon(t, {
    flags: { '--node-http': real.url },
    env: { ATLAS_INDEX__HEAD: 'finalized' },
    log: { debug: note, info: note, warn: note, error: note },
  });
  // Three polls, each with a higher head, prove the node's tag.
  let head = 44;
  for (const counted of ['1 of 3', '2 of 3']) {
    await waitFor(() => daemon.status().finality?.reason.includes(counted), {
      what: `polls counted: ${counted}`,
    });
    real.setHead(++head);
  }
  await waitFor(() => daemon.status().finality?.rule === 'tag', { what: 'a proved tag' });
  await waitFor(() => daemon.status().head?.number === head - 2, { what: 'the finalized head' });
  const before = dumpIndex(join(dataDir, 'index.db'));
  const replaced = real.fork(30);
  real.setHead(60);
  const reason =
    /chain differs from the index above block 29.*nothing is rolled back.*verify --repair 30\.\.30/;
  await waitFor(() => daemon.status().phase === 'paused' && reason.test(daemon.status().reason ?? ''), {
    what: `the fork to be noticed: ${JSON.stringify(daemon.status())}`,
  });
  const ready = await fetch(`${url}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), reason);
  const status = (await (await fetch(`${url}/status`)).json()) as { phase: string; reason: string };
  assert.equal(status.phase, 'paused');
  assert.match(status.reason, reason);
  assert.ok(
    logs.some((line) => reason.test(line)),
    logs.join('\n'),
  );
  assert.deepEqual(dumpIndex(join(dataDir, 'index.db')), before);
  assert.equal(daemon.status().reorgs, 0);
  real.fork(30, replaced);
  real.setHead(80);
  await waitFor(() => daemon.status().head?.number === 78, { what: 'indexing to go on' });
  assert.equal(daemon.status().reorgs, 0);
});
