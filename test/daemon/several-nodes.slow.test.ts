/** A daemon with two nodes under load: one is frozen, lags and is killed, and no client notices. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../src/log/logger.ts';
import { StreamClient } from '../streams/client.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { type NodeProcess, startNodeProcess } from '../support/nodes/node-process.ts';
import { startGeneratedNode, startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** A move follows a failure within two seconds on an idle machine; this one may be loaded. */
const MOVE_MS = 6_000;

async function startDaemon(t: TestContext, nodes: readonly { url: string; wsUrl: string }[], log?: Logger) {
  const flags = {
    '--node-http': nodes.map(({ url }) => url).join(','),
    '--node-ws': nodes.map(({ wsUrl }) => wsUrl).join(','),
  };
  return startTestDaemon(nestedCleanup(t), {
    flags,
    env: { ATLAS_NODE__QUIET_SECONDS: '1' },
    ...(log && { log }),
  });
}

/** Resolves when node `place` (from 1) is in use; with the milliseconds since the call. */
async function uses({ daemon }: TestDaemon, place: number): Promise<number> {
  const since = performance.now();
  const inUse = () => daemon.status().nodes.find(({ current }) => current)?.node === place;
  await waitFor(inUse, {
    what: `node ${place} to be used; ${JSON.stringify(daemon.status().nodes)}`,
    everyMs: 5,
  });
  return performance.now() - since;
}

async function call(daemon: TestDaemon, method: string, ...params: unknown[]) {
  const response = await fetch(`${daemon.url}/rpc`, {
    method: 'POST',
    headers: { 'X-API-Key': daemon.key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  return { status: response.status, ...answer };
}

/** Clients that read all the time; each must see heads that never fall, and no error. */
class Readers {
  readonly faults: string[] = [];
  answers = 0;
  private readonly loops: Promise<void>[] = [];
  private isOver = false;

  constructor(daemon: TestDaemon, count: number) {
    for (let i = 0; i < count; i++) this.loops.push(this.read(daemon));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  private async read(daemon: TestDaemon): Promise<void> {
    const { result } = await call(daemon, 'eth_getBlockByNumber', '0x5', false);
    const [tx = ''] = (result as { transactions: string[] }).transactions;
    const headers = { 'X-API-Key': daemon.key };
    let head = 0;
    while (!this.isOver) {
      const number = await call(daemon, 'eth_blockNumber');
      const block = await call(daemon, 'eth_getBlockByNumber', 'latest', false);
      const old = await call(daemon, 'eth_getBlockByNumber', '0x5', true);
      for (const { status, error, result } of [number, block, old]) {
        if (status !== 200 || error || result === null) this.faults.push(`${status} ${error?.message}`);
        this.answers++;
      }
      const { status } = await fetch(`${daemon.url}/api/transaction_transfers?tx=${tx}`, { headers });
      if (status !== 200) this.faults.push(`REST ${status}`);
      for (const seen of [Number(number.result), Number((block.result as { number?: string })?.number)]) {
        if (seen < head) this.faults.push(`the head fell from ${head} to ${seen}`);
        head = Math.max(head, seen);
      }
      await sleep(20);
    }
  }
}

/** Moves the heads of all nodes that are up on together, as one network does; `lagging` ones stay. */
function network(nodes: readonly NodeProcess[], first: number) {
  let head = first;
  let isOver = false;
  const lagging = new Set<NodeProcess>();
  const running = (async () => {
    while (!isOver) {
      head++;
      const moving = nodes.filter((node) => node.isUp && !lagging.has(node));
      await Promise.all(moving.map((node) => node.setHead(head).catch(() => undefined)));
      await sleep(100);
    }
  })();
  return {
    lagging,
    async end(): Promise<number> {
      isOver = true;
      await running;
      return head;
    },
  };
}

test('a frozen, a late and a dead node cost no read, and the index is unaffected', async (t) => {
  const chain = ['--generate', '3000x2', '--generate-seed', '77', '--head-start', '300'];
  const [first, second] = await Promise.all([startNodeProcess(t, chain), startNodeProcess(t, chain)]);
  const start = await first.head();
  const daemon = await startDaemon(t, [first, second]);
  await daemon.reaches(start);
  const stream = await StreamClient.open(nestedCleanup(t), daemon.url, daemon.key);
  const heads = await stream.subscribe<{ number: string }>('newHeads');
  const chainHead = network([first, second], start);
  const readers = new Readers(daemon, 4);
  const moves: Record<string, number> = {};

  await waitFor(() => heads.results.length > 5, { what: 'heads of the first node' });
  await uses(daemon, 1); // a slow start may have made it give way
  first.freeze();
  moves.frozen = await uses(daemon, 2);
  first.thaw();
  moves.thawed = await uses(daemon, 1);

  chainHead.lagging.add(first);
  moves.late = await uses(daemon, 2);
  chainHead.lagging.delete(first);
  moves.caughtUp = await uses(daemon, 1);

  first.kill();
  moves.killed = await uses(daemon, 2);
  const seen = heads.results.length;
  await waitFor(() => heads.results.length > seen + 10, { what: 'heads of the second node' });
  const end = await chainHead.end();
  await daemon.reaches(end);
  await readers.end();
  t.diagnostic(`${readers.answers} answers; moved after ms: ${JSON.stringify(moves)}`);

  assert.deepEqual(readers.faults, []);
  for (const fault of ['frozen', 'killed'] as const)
    assert.ok(moves[fault]! < MOVE_MS, `${fault}: ${moves[fault]} ms`);
  await waitFor(() => Number(heads.results.at(-1)?.number) === end, { what: 'the last head' });
  const numbers = heads.results.map(({ number }) => Number(number));
  assert.deepEqual(
    numbers,
    Array.from(numbers, (_, i) => numbers[0]! + i),
    'each head once, in order',
  );

  const undisturbed = await buildIndex({ url: second.url, dir: tempDir(t), startBlock: 1 });
  assert.deepEqual(dumpIndex(join(daemon.dataDir, 'index.db')), dumpIndex(undisturbed));
});

test('a node on another chain or fork is refused by name, and the index is unchanged', async (t) => {
  const options = { blocks: 60, txPerBlock: 4, seed: 5 };
  const { node, blocks } = await startGeneratedNode(nestedCleanup(t), options, { head: 40 });
  const { node: stranger } = await startGeneratedNode(nestedCleanup(t), { ...options, seed: 6 });
  const fork = await startNode(nestedCleanup(t), { chainId: node.chainId, chain: blocks, head: 50 });
  fork.fork(25);
  const daemon = await startDaemon(t, [node, stranger, fork]);
  await daemon.reaches(40);
  const states = () => daemon.daemon.status().nodes.map(({ state }) => state);
  await waitFor(() => states().join() === 'healthy,another_chain,another_fork', {
    what: `states, not ${states()}`,
  });
  const before = dumpIndex(join(daemon.dataDir, 'index.db'));
  await node.close();
  await waitFor(() => states()[0] === 'failing', { what: 'the first node to fail' });
  await sleep(1_500); // a few checks of the others
  assert.deepEqual(states(), ['failing', 'another_chain', 'another_fork']);
  assert.deepEqual(dumpIndex(join(daemon.dataDir, 'index.db')), before);
  const { nodes } = (await (await fetch(`${daemon.url}/status`)).json()) as {
    nodes: Record<string, unknown>[];
  };
  assert.match(
    String(nodes[2]?.reason),
    /^its block 3\d is 0x[0-9a-f]{64}, the indexed one is 0x[0-9a-f]{64}$/,
  );
  assert.ok(
    nodes.every(({ address }) => address === null),
    'no address is public',
  );
});

/** A node that forwards the calls that `takes` does not answer. */
async function startPassingNode(
  t: TestContext,
  { url, wsUrl }: { url: string; wsUrl: string },
  takes: (body: string, response: ServerResponse) => boolean,
) {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (takes(body, response)) return;
    response.end(await (await fetch(url, { method: 'POST', body })).text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  t.after(close);
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, wsUrl, close };
}

test('calls in flight to a node that is left do not count against the next one', async (t) => {
  const { node } = await startGeneratedNode(nestedCleanup(t), { blocks: 20, txPerBlock: 2 });
  let isHanging = false;
  let waiting = 0;
  const first = await startPassingNode(t, node, (body) => {
    if (isHanging && body.includes('eth_getBalance')) waiting++;
    return isHanging;
  });
  const warnings: string[] = [];
  const daemon = await startDaemon(t, [first, node], {
    debug() {},
    info() {},
    warn: (fields, msg) => void warnings.push(`${msg} ${JSON.stringify(fields)}`),
    error: (_, msg) => void warnings.push(msg),
  });
  await waitFor(() => daemon.daemon.status().nodes.every(({ state }) => state === 'healthy'), {
    what: 'both nodes',
  });
  isHanging = true;
  const wallets = Array.from({ length: 30 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);
  const calls = wallets.map((wallet) => call(daemon, 'eth_getBalance', wallet, 'latest'));
  await waitFor(() => waiting === wallets.length, { what: 'the calls to wait for the first node' });
  await uses(daemon, 2);
  assert.deepEqual(new Set((await Promise.all(calls)).map(({ status }) => status)), new Set([200]));
  assert.deepEqual(
    warnings.filter((warning) => warning.includes('keep')),
    [],
  );
});

test('a transaction is sent to one node once, whatever its outcome', async (t) => {
  const { node } = await startGeneratedNode(nestedCleanup(t), { blocks: 20, txPerBlock: 2 });
  const received: string[] = [];
  let isHanging = false;
  /** The node that accepts transactions. The first node does not answer them. */
  const nodeAt = (name: string) =>
    startPassingNode(t, node, (body, response) => {
      if (!body.includes('eth_sendRawTransaction')) return name === 'first' && isHanging;
      received.push(name);
      if (name !== 'first') response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
      return true;
    });
  const first = await nodeAt('first');
  const daemon = await startDaemon(t, [first, await nodeAt('second')]);
  await waitFor(() => daemon.daemon.status().nodes.every(({ state }) => state === 'healthy'), {
    what: 'both nodes',
  });
  const sent = call(daemon, 'eth_sendRawTransaction', '0x01');
  await waitFor(() => received.length === 1, { what: 'the transaction to arrive' });
  isHanging = true;
  await uses(daemon, 2);
  assert.deepEqual(received, ['first'], 'what the first node may have taken is not sent again');
  first.close();
  assert.equal((await sent).status, 502);
  assert.deepEqual(received, ['first']);
  assert.equal((await call(daemon, 'eth_sendRawTransaction', '0x02')).result, '0x1');
  assert.deepEqual(received, ['first', 'second']);
});
