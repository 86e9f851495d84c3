import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { UpstreamError } from '../../src/lib/errors.ts';
import { RpcClient, type RpcClientOptions } from '../../src/node/client.ts';
import { NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

interface Limits {
  callsPerSecond: number;
  burst: number;
  /** Seconds in the answer's Retry-After. */
  retryAfter?: number;
}

/** A node that, like providers, refuses requests with HTTP 429 for which it lacks accumulated calls. */
async function startLimitedNode(t: TestContext, { callsPerSecond, burst, retryAfter }: Limits) {
  const stats = { refused: 0, requests: 0 };
  let tokens = burst;
  let filledAt = performance.now();
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { id: number } | { id: number }[];
    const calls = Array.isArray(body) ? body : [body];
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * callsPerSecond);
    filledAt = now;
    stats.requests++;
    if (tokens < calls.length) {
      stats.refused++;
      response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
      response.end('too many requests');
      return;
    }
    tokens -= calls.length;
    const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: id }));
    response.end(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stats };
}

function connect(t: TestContext, url: string, options: Partial<RpcClientOptions> = {}): RpcClient {
  const client = new RpcClient({ url, timeoutMs: 20_000, maxSockets: 8, maxBatch: 60, ...options });
  t.after(() => client.close());
  return client;
}

const calls = (count: number) => Array.from({ length: count }, () => ({ method: 'eth_test', params: [] }));

test('calls beyond what the node accepts in a second are all answered, with few refusals', async (t) => {
  const { url, stats } = await startLimitedNode(t, { callsPerSecond: 100, burst: 30 });
  const client = connect(t, url);
  const replies = await Promise.all(Array.from({ length: 20 }, () => client.batch(calls(16))));
  assert.equal(replies.flat().filter((reply) => 'result' in reply).length, 320);
  assert.ok(stats.refused < 40, `${stats.refused} of ${stats.requests} requests refused`);
});

test('a batch larger than the node ever accepts is split', async (t) => {
  const { url, stats } = await startLimitedNode(t, { callsPerSecond: 20, burst: 5 });
  const client = connect(t, url);
  assert.equal((await client.batch(calls(16))).length, 16);
  assert.ok(client.batchSize <= 5, `batches of ${client.batchSize}`);
  assert.ok(stats.requests < 40, `${stats.requests} requests`);
});

test('Retry-After of the node is honoured', async (t) => {
  const { url, stats } = await startLimitedNode(t, { callsPerSecond: 5, burst: 1, retryAfter: 1 });
  const client = connect(t, url);
  await client.call('eth_test', []);
  const startedAt = performance.now();
  await client.call('eth_test', []);
  assert.ok(performance.now() - startedAt > 990);
  assert.equal(stats.requests, 3);
});

test('a node that refuses everything for too long causes an error', async (t) => {
  for (const retryAfter of [undefined, 3600]) {
    const limits = { callsPerSecond: 0, burst: 0, ...(retryAfter && { retryAfter }) };
    const { url, stats } = await startLimitedNode(t, limits);
    const client = connect(t, url, { patienceMs: 600 });
    await assert.rejects(client.batch(calls(4)), (error) => {
      assert.ok(error instanceof UpstreamError);
      assert.match(error.message, /HTTP 429/);
      return true;
    });
    assert.equal(stats.requests, retryAfter ? 1 : 3);
  }
});

test('a wait for a turn ends on abort and on close', async (t) => {
  const { url } = await startLimitedNode(t, { callsPerSecond: 1, burst: 1, retryAfter: 30 });
  const client = connect(t, url, { patienceMs: 60_000 });
  await client.call('eth_test', []);
  const stop = new AbortController();
  const calledOff = client.call('eth_test', [], stop.signal);
  const cutOff = client.call('eth_test', []);
  setTimeout(() => stop.abort(new Error('enough')), 300);
  const startedAt = performance.now();
  await assert.rejects(calledOff, { message: 'enough' });
  await client.close();
  await assert.rejects(cutOff, /is closed/);
  assert.ok(performance.now() - startedAt < 5_000);
});

test('only the rate-limited calls of a batch are repeated', async (t) => {
  const asked: unknown[] = [];
  const node = await startMisbehavingNode({
    answer(_method, [n]) {
      asked.push(n);
      if (n === 3 && asked.length <= 8)
        throw new NodeError(429, 'Your app has exceeded its compute units per second capacity.');
      return n;
    },
  });
  t.after(() => node.close());
  const numbered = calls(8).map((call, n) => ({ ...call, params: [n] }));
  const replies = await connect(t, node.url).batch(numbered);
  assert.deepEqual(
    replies,
    numbered.map(({ params }) => ({ result: params[0] })),
  );
  assert.deepEqual(asked, [0, 1, 2, 3, 4, 5, 6, 7, 3]);
});

test('a call that the node never accepts fails even while others succeed', async (t) => {
  const node = await startMisbehavingNode({
    answer(method) {
      if (method === 'eth_refused') throw new NodeError(-32_005, 'daily request limit reached');
      return 1;
    },
  });
  t.after(() => node.close());
  const client = connect(t, node.url, { patienceMs: 60_000 });
  let done = false;
  const others = (async () => {
    while (!done) await client.call('eth_accepted', []);
  })();
  const refused = { method: 'eth_refused', params: [] };
  const replies = await client.batch([refused, refused, { method: 'eth_accepted', params: [] }]);
  done = true;
  await others;
  const told = 'eth_refused: daily request limit reached (-32005)';
  assert.deepEqual(
    replies.map((reply) => ('error' in reply ? reply.error.message : reply.result)),
    [told, told, 1],
  );
});
