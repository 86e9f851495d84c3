import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway } from '../gateway.ts';
import { ADDRESS, learnFinality, scripted } from './scripted.ts';

/** Makes calls with a stopped clock, because only calls at nearly the same time are merged. */
function atOnce<T>(t: TestContext, make: () => T): T {
  const now = performance.now();
  const clock = t.mock.method(performance, 'now', () => now);
  try {
    return make();
  } finally {
    clock.mock.restore();
  }
}

test('equal calls in flight are sent once, and each gets its own id', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 50 });
  const ask = (id: string) =>
    gateway.answer(`{"jsonrpc":"2.0","id":${id},"method":"eth_getBalance","params":["${ADDRESS}","latest"]}`);
  const answers = await Promise.all(atOnce(t, () => ['1', '"two"', 'null', '4'].map(ask)));
  assert.deepEqual(
    answers.map(({ body }) => String(body)),
    ['1', '"two"', 'null', '4'].map((id) => `{"jsonrpc":"2.0","id":${id},"result":"answer 1"}`),
  );
  assert.equal(node.requests.length, 1);
  assert.equal(await gateway.metric('atlas_rpc_merged_calls_total{method="eth_getBalance"}'), 3);
});

test('only equal reads are merged', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 30 });
  const all = await Promise.all([
    gateway.result('eth_getBalance', ADDRESS, 'latest'),
    gateway.result('eth_getBalance', ADDRESS, 'pending'),
    gateway.result('eth_getCode', ADDRESS, 'latest'),
    gateway.result('eth_sendRawTransaction', '0x02'),
    gateway.result('eth_sendRawTransaction', '0x02'),
  ]);
  assert.equal(new Set(all).size, 5);
});

test('a call made before a transaction answers no call made after it', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 300, when: ({ method }) => method === 'eth_getBalance' });
  const before = gateway.result('eth_getBalance', ADDRESS, 'latest');
  await gateway.result('eth_sendRawTransaction', '0x02');
  node.misbehave({});
  const after = await gateway.result('eth_getBalance', ADDRESS, 'latest');
  assert.notEqual(await before, after);
});

test('a call made before a head was announced answers no call made after it', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 30 });
  const [before, joined, after] = atOnce(t, () => {
    const ask = () => gateway.result('eth_getBalance', ADDRESS, 'latest');
    const calls = [ask(), ask()];
    gateway.handler.headChanged();
    return [...calls, ask()];
  });
  assert.equal(await before, await joined);
  assert.notEqual(await before, await after);
});

test('a slow call answers only calls made at nearly the same time', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 200 });
  const first = gateway.result('eth_getBalance', ADDRESS, 'latest');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const second = gateway.result('eth_getBalance', ADDRESS, 'latest');
  assert.notEqual(await first, await second);
});

test('a waiting client that leaves does not cancel the call for the others', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({ delayMs: 60 });
  const body = `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["${ADDRESS}","latest"]}`;
  const leaving = new AbortController();
  const [first, second] = atOnce(t, () => [gateway.answer(body, {}, leaving.signal), gateway.answer(body)]);
  leaving.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  assert.match(String((await second).body), /answer 1/);
});

test('a call that its last client has left is aborted, and sent again for the next client', async (t) => {
  const { node, chain, gateway } = await scripted(t);
  await learnFinality(gateway);
  const asked = () => chain.asked.filter((call) => call.startsWith('eth_getCode')).length;
  node.misbehave({ wire: { kind: 'hang' }, when: ({ method }) => method === 'eth_getCode' });
  const leaving = new AbortController();
  const body = `{"jsonrpc":"2.0","id":1,"method":"eth_getCode","params":["${ADDRESS}","0x1"]}`;
  const left = gateway.answer(body, {}, leaving.signal);
  await waitFor(() => asked() === 1, { what: 'the call to reach the node' });
  leaving.abort(new Error('gone'));
  await assert.rejects(left, /gone/);
  node.misbehave({});
  assert.match(String((await gateway.answer(body)).body), /"result":"answer/);
  assert.equal(asked(), 2);
});

test('several clients of one call each get the whole long answer', async (t) => {
  const long = 'ab'.repeat(3_000_000);
  const node = await startMisbehavingNode({ answer: () => long });
  t.after(() => node.close());
  const gateway = startGateway(t, { url: node.url });
  const calls = atOnce(t, () => [1, 2, 3].map(() => gateway.result('eth_call', {}, 'latest')));
  const results = await Promise.all(calls);
  assert.ok(results.every((result) => result === long));
  assert.equal(node.requests.length, 1);
});
