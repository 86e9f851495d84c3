/** newHeads through the whole daemon, against a simulated node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { type Cleanup, nestedCleanup } from '../../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../../support/daemon/daemon.ts';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { resultOf, startGeneratedNode } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';
import { StreamClient } from '../client.ts';

interface Head {
  number: string;
  hash: string;
  parentHash: string;
}

const CHAIN = { blocks: 120, txPerBlock: 4, startBlock: 1 };

async function serve(
  t: Cleanup,
  { ws = true }: { ws?: boolean } = {},
): Promise<{ node: ReplayNode; served: TestDaemon }> {
  const { node } = await startGeneratedNode(t, CHAIN, { head: 10 });
  const flags = { '--node-http': node.url, '--node-ws': ws ? node.wsUrl : '' };
  return { node, served: await startTestDaemon(t, { flags }) };
}

const numbers = (heads: readonly Head[]) => heads.map(({ number }) => Number(number));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

function reach(heads: readonly Head[], count: number): Promise<unknown> {
  return waitFor(() => heads.length >= count, { what: `${count} heads; got ${numbers(heads)}` });
}

test('every subscriber gets every head once, unchanged, over one subscription at the node', async (context) => {
  const t = nestedCleanup(context);
  const { node, served } = await serve(t);
  const asked = () => node.stats().byMethod.eth_subscribe ?? 0;
  await waitFor(() => asked() === 1, { what: 'the subscription of the indexer' });
  const clients = await Promise.all(range(1, 4).map(() => StreamClient.open(t, served.url, served.key)));
  const feeds = await Promise.all(clients.map((client) => client.subscribe<Head>('newHeads')));
  node.mine(30);
  for (const { results } of feeds) {
    await reach(results, 30);
    assert.deepEqual(numbers(results), range(11, 40));
  }
  const block = await resultOf<Head>(node.url, 'eth_getBlockByNumber', '0xf', false);
  const { transactions: _, uncles: __, ...header } = block as Head & Record<string, unknown>;
  assert.deepEqual(feeds[0]?.results[4], { ...header, ...feeds[0]?.results[4] }, 'the whole header is sent');
  assert.equal(asked(), 2, 'one for all clients');
});

test('after a reorg, subscribers get every block of the new branch in order', async (context) => {
  const t = nestedCleanup(context);
  const { node, served } = await serve(t);
  const client = await StreamClient.open(t, served.url, served.key);
  const { results } = await client.subscribe<Head>('newHeads');
  node.mine(5);
  await reach(results, 5);
  node.fork(13);
  await reach(results, 8);
  node.mine(1);
  await reach(results, 9);
  assert.deepEqual(numbers(results), [11, 12, 13, 14, 15, 13, 14, 15, 16]);
  const last = results.slice(-4);
  for (const [i, head] of last.entries()) {
    assert.equal(head.parentHash, i === 0 ? results[1]?.hash : last[i - 1]?.hash);
  }
});

test('a shorter chain is followed at the height of the index, and closes old subscribers', async (context) => {
  const t = nestedCleanup(context);
  const { node } = await startGeneratedNode(t, CHAIN, { head: 60, finalizedLag: 120 });
  const served = await startTestDaemon(t, { flags: { '--node-http': node.url, '--node-ws': node.wsUrl } });
  await served.reaches(60);
  const client = await StreamClient.open(t, served.url, served.key);
  const { results: old } = await client.subscribe<Head>('newHeads');
  node.mine(2);
  await reach(old, 2);
  node.setHead(9);
  node.fork(9);
  await waitFor(() => served.daemon.status().nodeChain === 'behind', { what: 'the shorter chain' });
  assert.equal(client.socket.readyState, client.socket.OPEN);
  node.setHead(63);
  const { code, reason } = await client.closed();
  assert.deepEqual([code, reason], [1013, 'reorg too deep to report removals; reconnect and reload']);
  const again = await StreamClient.open(t, served.url, served.key);
  const { results } = await again.subscribe<Head>('newHeads');
  node.mine(3);
  await reach(results, 3);
  assert.deepEqual(numbers(results), [64, 65, 66]);
});

test('without a WebSocket at the node, heads are polled and none is left out', async (context) => {
  const t = nestedCleanup(context);
  const { node, served } = await serve(t, { ws: false });
  const client = await StreamClient.open(t, served.url, served.key);
  const { results } = await client.subscribe<Head>('newHeads');
  for (const height of [17, 18, 44]) {
    node.setHead(height);
    await reach(results, height - 10);
  }
  node.fork(43);
  await reach(results, 36);
  assert.deepEqual(numbers(results), [...range(11, 44), 43, 44]);
});

test('heads missed while the connection to the node is down are fetched and sent in order', async (context) => {
  const t = nestedCleanup(context);
  const { node } = await startGeneratedNode(t, CHAIN, { head: 10 });
  const between = await startMisbehavingNode({ upstream: node.url });
  t.after(() => between.close());
  const served = await startTestDaemon(t, {
    flags: { '--node-http': between.url, '--node-ws': between.wsUrl },
    env: { ATLAS_INDEX__POLL_MS: '200' },
  });
  const client = await StreamClient.open(t, served.url, served.key);
  const { results } = await client.subscribe<Head>('newHeads');
  for (const cut of range(1, 5)) {
    node.mine(3);
    between.drop();
    node.mine(17);
    await reach(results, cut * 20);
  }
  assert.deepEqual(numbers(results), range(11, 110));
  for (const [i, head] of results.entries()) if (i > 0) assert.equal(head.parentHash, results[i - 1]?.hash);
});

test('announcements that stop on an open connection are detected', async (context) => {
  const t = nestedCleanup(context);
  const { node } = await startGeneratedNode(t, CHAIN, { head: 10 });
  const between = await startMisbehavingNode({ upstream: node.url });
  t.after(() => between.close());
  const served = await startTestDaemon(t, {
    flags: { '--node-http': node.url, '--node-ws': between.wsUrl },
  });
  const client = await StreamClient.open(t, served.url, served.key);
  const { results } = await client.subscribe<Head>('newHeads');
  between.misbehave({ deaf: true });
  node.mine(3);
  await reach(results, 3);
  assert.deepEqual(numbers(results), [11, 12, 13]);
});

test('a subscribe is refused while the node is unreachable, and works afterwards', async (context) => {
  const t = nestedCleanup(context);
  const { node } = await startGeneratedNode(t, CHAIN, { head: 10 });
  const between = await startMisbehavingNode({ upstream: node.url });
  t.after(() => between.close());
  const served = await startTestDaemon(t, { flags: { '--node-http': between.url } });
  const client = await StreamClient.open(t, served.url, served.key);
  await between.close();
  await assert.rejects(client.subscribe('newHeads'), { code: -32603, message: 'upstream unavailable' });
  await between.listen();
  const { results } = await client.subscribe<Head>('newHeads');
  node.mine(1);
  await reach(results, 1);
});

test('a client that got a head never reads an older one afterwards', async (context) => {
  const t = nestedCleanup(context);
  const { node, served } = await serve(t);
  const [told, asking] = [
    await StreamClient.open(t, served.url, served.key),
    await StreamClient.open(t, served.url, served.key),
  ];
  // Another client keeps calling, so that there is always a recent answer and a call in flight.
  let isOver = false;
  const others = (async () => {
    while (!isOver) await asking.call('eth_blockNumber');
  })();
  const behind: string[] = [];
  const { results } = await told.subscribe<Head>('newHeads');
  for (let count = 1; count <= 40; count++) {
    node.mine(1);
    await waitFor(() => results.length === count, { what: `head ${count}`, everyMs: 1 });
    const [announced, newest] = [Number(results.at(-1)?.number), Number(await told.call('eth_blockNumber'))];
    if (newest < announced) behind.push(`${newest} after ${announced}`);
  }
  isOver = true;
  await others;
  assert.deepEqual(behind, []);
});
