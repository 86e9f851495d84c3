/** A node that limits its calls: its clients learn so from the status, and no other call suffers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type CallResult, createCall } from '../../src/gateway/call.ts';
import { collectAnswer } from '../../src/gateway/collect-answer.ts';
import { CircuitBreaker, type Failover } from '../../src/gateway/failover.ts';
import { HoldOff } from '../../src/gateway/hold-off.ts';
import { NodeCall } from '../../src/gateway/node-call.ts';
import { rateLimitIn } from '../../src/gateway/rate-limit.ts';
import { ByteBudget } from '../../src/lib/byte-budget.ts';
import { TurnBudget } from '../../src/lib/limits.ts';
import { StreamingHttpClient } from '../../src/node/http/streaming-client.ts';
import { waitFor } from '../support/wait.ts';
import { startGateway, type TestGatewayOptions } from './gateway.ts';
import { startNode } from './node.ts';

interface Refusal {
  status: number;
  retryAfter?: string;
  text?: string;
  delayMs?: number;
}

/** How providers limit the rate of a call in a batch. */
const LIMITED = { code: 429, message: 'compute units per second exceeded' };

/** A gateway before a node that refuses single calls as long as `refusal` is set. */
async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const state: { refusal: Refusal | null; calls: number } = { refusal: null, calls: 0 };
  const node = await startNode(t, (body, response) => {
    const call = JSON.parse(body);
    if (Array.isArray(call)) return response.writeHead(400).end(); // accepts no batches
    if (/eth_(chainId|blockNumber)/.test(call.method))
      return response.end('{"jsonrpc":"2.0","id":1,"result":"0x1388"}');
    state.calls++;
    const { refusal } = state;
    if (refusal === null) {
      const { fromBlock = '0x1' } = Object(call.params[0]);
      const header = { number: '0x1388', hash: `0x${'1'.repeat(64)}`, parentHash: `0x${'2'.repeat(64)}` };
      const result = call.method === 'eth_getLogs' ? [{ blockNumber: fromBlock }] : header;
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }));
    }
    const { status, retryAfter, text = 'Too Many Requests', delayMs = 0 } = refusal;
    setTimeout(() => {
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end(text);
    }, delayMs);
  });
  const gateway = startGateway(t, { url: node.url, cache: false, local: false, ...options });
  const ask = async (method = 'eth_getBalance', params: unknown[] = []) => {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
    const { status, body, retryAfter } = await gateway.answer(request);
    return { status, retryAfter, ...JSON.parse(String(body)) };
  };
  return { state, gateway, ask };
}

test('a 429, and a 503 with Retry-After, reach the client once, with the time to wait', async (t) => {
  for (const [refusal, status, retryAfter] of [
    [{ status: 429 }, 429, 1],
    [{ status: 429, retryAfter: '0' }, 429, 1],
    [{ status: 429, retryAfter: '7' }, 429, 7],
    [{ status: 503, retryAfter: '7' }, 503, 7],
    [{ status: 429, retryAfter: new Date(Date.now() + 20_500).toUTCString() }, 429, 20],
  ] as const) {
    const { state, ask } = await setUp(t);
    state.refusal = refusal;
    const answer = await ask();
    assert.equal(answer.status, status);
    assert.ok(Math.abs(answer.retryAfter - retryAfter) <= 1, `${answer.retryAfter} s`);
    assert.deepEqual(answer.error.data, { upstream: true, retryAfter: answer.retryAfter });
    assert.equal(state.calls, 1);
  }
});

test("the node's own error keeps its code and words", async (t) => {
  const { state, ask } = await setUp(t);
  const error = { code: 429, message: 'compute units exceeded', data: { see: 'docs' } };
  state.refusal = { status: 429, text: JSON.stringify({ jsonrpc: '2.0', id: 1, error }) };
  const answer = await ask();
  assert.equal(answer.status, 429);
  assert.deepEqual(answer.error, { ...error, data: { see: 'docs', upstream: true, retryAfter: 1 } });
});

test('calls are held off for as long as the node said, and by no breaker', async (t) => {
  const { state, ask, gateway } = await setUp(t);
  state.refusal = { status: 429 };
  for (let i = 0; i < 20; i++) assert.equal((await ask('eth_getBalance', [String(i)])).status, 429);
  assert.equal(state.calls, 20, 'without Retry-After every call reaches the node');
  state.refusal = { status: 503, retryAfter: '4' };
  await ask();
  state.refusal = null;
  const { status, retryAfter = 0 } = await ask('eth_sendRawTransaction', ['0x02']);
  assert.deepEqual([status, state.calls], [503, 21]);
  assert.ok(retryAfter >= 2 && retryAfter <= 4, `${retryAfter} s`);
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  assert.equal((await ask()).status, 200, 'the last second is waited for');
  assert.ok(!gateway.logs.some((line) => line.includes('the node keeps failing')));
});

test('all clients of one call to the node get its status', async (t) => {
  const { state, ask } = await setUp(t);
  state.refusal = { status: 429, retryAfter: '2', delayMs: 1_000 }; // until all have asked
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask()));
  assert.deepEqual(
    answers.map(({ status, retryAfter }) => [status, retryAfter]),
    Array(5).fill([429, 2]),
  );
  assert.equal(state.calls, 1);
});

test('a batch succeeds, with an error for each call', async (t) => {
  const { state, gateway } = await setUp(t);
  state.refusal = { status: 429, retryAfter: '2' };
  const calls = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_getBalance', params: [id] }));
  const { status, body, retryAfter } = await gateway.answer(JSON.stringify(calls));
  assert.deepEqual([status, retryAfter], [200, undefined]);
  for (const { error } of JSON.parse(String(body))) {
    assert.deepEqual([error.code, error.data.upstream], [-32005, true]);
  }
});

const LIMITED_TEXT = JSON.stringify({ jsonrpc: '2.0', id: 1, error: LIMITED });
for (const [name, refusal] of [
  ['a part of a range waits for the node twice before the whole fails', { status: 429, retryAfter: '1' }],
  ['so it does where the node limits it in words', { status: 200, text: LIMITED_TEXT }],
] as const) {
  test(name, (t) => checkParts(t, refusal));
}

async function checkParts(t: TestContext, refusal: Refusal): Promise<void> {
  const { state, ask } = await setUp(t);
  const range = { fromBlock: '0x1', toBlock: '0x96' }; // more than one part
  await ask('eth_getLogs', [{ ...range, toBlock: '0x1' }]);
  const asked = ask('eth_getLogs', [{ ...range, address: [] }]);
  state.refusal = refusal;
  setTimeout(() => {
    state.refusal = null;
  }, 500);
  const answer = await asked;
  assert.deepEqual([answer.status, answer.result?.[0]?.blockNumber], [200, '0x1'], JSON.stringify(answer));
  const failing = ask('eth_getLogs', [range]);
  state.refusal = refusal;
  const failed = await failing;
  assert.deepEqual(
    [failed.status, failed.error],
    refusal.status === 200
      ? [200, LIMITED]
      : [429, { code: -32005, message: failed.error.message, data: { upstream: true, retryAfter: 1 } }],
  );
}

test('a call that the node limits within a batch of ours gets the status that it had got alone', async (t) => {
  const answerTo = (method: string, block: unknown) => {
    if (method !== 'eth_getBlockByNumber') return '0x1388';
    const number = typeof block === 'string' && block.startsWith('0x') ? block : '0x1388';
    return { number, hash: `0x${number.slice(2).padStart(64, '1')}`, parentHash: `0x${'2'.repeat(64)}` };
  };
  const node = await startNode(t, (body, response) => {
    const parsed = JSON.parse(body);
    const answers = [parsed].flat().map(({ id, method, params: [block] }) => {
      const isLimited = Array.isArray(parsed) && method === 'eth_getBalance';
      return {
        jsonrpc: '2.0',
        id,
        ...(isLimited ? { error: LIMITED } : { result: answerTo(method, block) }),
      };
    });
    response.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]));
  });
  const gateway = startGateway(t, { url: node.url, local: false });
  const params = [`0x${'1'.repeat(40)}`, '0x1'];
  const request = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_getBalance', params });
  const isLimited = () => node.received.some((body) => /^\[.*getBalance/.test(body));
  const answer = await waitFor(
    async () => {
      const asked = await gateway.answer(request); // the first is sent alone, a repeated one with anchors
      return isLimited() ? asked : undefined;
    },
    { what: 'a call with anchors' },
  );
  assert.deepEqual([answer.status, answer.retryAfter], [429, 1]);
  const { error } = JSON.parse(String(answer.body));
  assert.deepEqual(error, { ...LIMITED, data: { upstream: true, retryAfter: 1 } });
});

test('a refused range is no limit of the rate, nor is code -32005 without such words', () => {
  const tail = (code: number, message: string) =>
    Buffer.from(`"error":${JSON.stringify({ code, message })}}`);
  const range = 'the block range exceeds the request limit of your plan: at most 500 blocks';
  assert.equal(rateLimitIn(tail(-32005, range)), null);
  assert.equal(rateLimitIn(tail(-32005, 'query timeout exceeded')), null);
  assert.equal(rateLimitIn(tail(-32005, 'project ID request rate exceeded'))?.code, -32005);
});

test('an error that is no object is no limit of the rate', () => {
  for (const error of ['"too many requests"', 'null', '429', '[]'])
    assert.equal(rateLimitIn(Buffer.from(`"error":${error}}`)), null, error);
});

test('another node gets the call first', async (t) => {
  const nodes = await Promise.all(
    [429, 200].map((status) =>
      startNode(t, (_, response) => {
        response.writeHead(status, { 'Retry-After': '5' }).end('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
      }),
    ),
  );
  const limits = { maxSockets: 2, maxWaiting: 2, maxWaitingBytes: 1_000 };
  const clients = nodes.map(({ url }) => new StreamingHttpClient({ url, timeoutMs: 20_000, ...limits }));
  t.after(() => clients.map((client) => client.close()));
  const failover: Failover = {
    node: 0,
    floor: -1,
    noteHead() {},
    noteErrors() {
      Object.assign(failover, { node: 1 });
    },
    awaitNode: () => null,
  };
  const deps = {
    node: {
      post: (...args: Parameters<StreamingHttpClient['post']>) => clients[failover.node]!.post(...args),
    },
    failover,
    breaker: new CircuitBreaker(() => undefined),
    holdOff: new HoldOff(),
    budget: new ByteBudget(10_000),
    turns: new TurnBudget(1_000),
    onFailure: () => undefined,
    onBatch: () => undefined,
  };
  const none = () => undefined;
  const options = { bufferBytes: 0, onTail: none, needsJson: false, onSealed: none, onEvicted: none };
  const ask = (method: string): Promise<CallResult> =>
    collectAnswer((consumer) => {
      const call = new NodeCall(createCall(method, []), 1, deps, options);
      const waiter = call.join(consumer, 1);
      call.start();
      return waiter;
    });
  // The node has refused a write unexecuted, so another may get it.
  for (const method of ['eth_sendRawTransaction', 'eth_getBalance']) {
    assert.equal((await ask(method)).status, 200);
  }
  assert.deepEqual(
    nodes.map(({ received }) => received.length),
    [1, 2],
  );
  Object.assign(failover, { node: 0, noteErrors() {} }); // no other node is usable
  const { status, retryAfter } = await ask('eth_getBalance');
  assert.deepEqual([status, retryAfter, nodes[0]?.received.length], [429, 5, 1]);
});
