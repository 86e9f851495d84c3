/** What one key may ask at once, and what nobody may. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../support/wait.ts';
import { startGateway, type TestGatewayOptions } from './gateway.ts';
import { startNode } from './node.ts';

/** A node that answers when the test lets it. */
async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const waiting: (() => void)[] = [];
  const node = await startNode(t, (body, response) => {
    const { id, params } = JSON.parse(body);
    waiting.push(() => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params })));
  });
  const gateway = startGateway(t, { url: node.url, ...options });
  return {
    node,
    gateway,
    reach: (count: number) =>
      waitFor(() => node.received.length === count, { what: `${count} calls to reach the node` }),
    letAnswer() {
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    jsonrpc: '2.0',
    id: i,
    method: 'eth_getCode',
    params: [`of the batch ${i}`],
  }));

test('a key has so many calls waiting at once, and others are not held up by it', async (t) => {
  const { node, gateway, reach, letAnswer } = await setUp(t, { concurrency_per_key: 3 });
  const admitted = ['a', 'b', 'c'].map((one) => gateway.call('eth_getCode', [one]));
  await reach(3);

  const { status, error } = await gateway.call('eth_getCode', ['d']);
  assert.equal(status, 429);
  assert.deepEqual([error?.code, error?.data], [-32005, { retryAfter: 1 }]);
  assert.equal(node.received.length, 3, 'the refused call did not reach the node');

  const other = gateway.call('eth_getCode', ['e'], 2);
  await reach(4);
  letAnswer();
  assert.deepEqual(
    (await Promise.all(admitted)).map(({ result }) => result),
    [['a'], ['b'], ['c']],
  );
  assert.deepEqual((await other).result, ['e']);

  const again = gateway.call('eth_getCode', ['f']);
  await reach(5);
  letAnswer();
  assert.equal((await again).status, 200, 'what was answered waits no more');
});

test('a refused request is not charged, a batch weighs as many calls as it has at once', async (t) => {
  const { gateway, reach, letAnswer } = await setUp(t, { concurrency_per_key: 18, wire: { maxSockets: 32 } });
  let charged = 0;
  const charges: number[] = [];
  const charge = (count: number) => {
    charged += count;
    charges.push(count);
    return null;
  };
  const batch = gateway.answer(JSON.stringify(calls(16)), { charge });
  await reach(16);
  assert.equal((await gateway.answer(JSON.stringify(calls(3)), { charge })).status, 429);
  assert.deepEqual(charges, [16, 0], 'asked all the same, for the allowance that the answer tells');
  const small = gateway.answer(JSON.stringify(calls(2).map((call) => ({ ...call, params: [call.id] }))), {
    charge,
  });
  await reach(18);
  letAnswer();
  assert.deepEqual([(await batch).status, (await small).status, charged], [200, 200, 18]);
});

test('a client that leaves gives its place back', async (t) => {
  const { gateway, reach, letAnswer } = await setUp(t, { concurrency_per_key: 1 });
  const leaving = new AbortController();
  const left = gateway.answer(JSON.stringify(calls(1)[0]), {}, leaving.signal);
  await reach(1);
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
  const next = gateway.call('eth_getCode', ['next']);
  await reach(2);
  letAnswer();
  assert.deepEqual((await next).result, ['next']);
});

test('a hundred calls are a batch, one more is refused and charged as one', async (t) => {
  const { node, gateway } = await setUp(t);
  let charged = 0;
  const charge = (count: number) => {
    charged += count;
    return null;
  };
  const { status, body } = await gateway.answer(JSON.stringify(calls(101)), { charge });
  const { id, error } = JSON.parse(String(body));
  assert.deepEqual([status, id, error.code], [200, null, -32600]);
  assert.match(error.message, /100/);
  assert.deepEqual([charged, node.received.length], [1, 0]);
});

test('a method that is not offered is refused by its name, and the node is not asked', async (t) => {
  const { node, gateway } = await setUp(t);
  for (const method of [
    'eth_accounts',
    'eth_sign',
    'eth_sendTransaction',
    'debug_traceCall',
    'admin_peers',
    'anvil_mine',
  ]) {
    const { status, error } = await gateway.call(method, [{}]);
    assert.deepEqual(
      [status, error],
      [200, { code: -32601, message: `the method ${method} does not exist or is not available here` }],
    );
  }
  assert.equal(node.received.length, 0);
});
