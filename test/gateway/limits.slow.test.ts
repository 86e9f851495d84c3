/** What one key may request at once, and what nobody may. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { configSchema } from '../../src/config/schema.ts';
import { waitFor } from '../support/wait.ts';
import { startGateway, type TestGatewayOptions } from './gateway.ts';
import { answering, startNode } from './node.ts';

/** A node that answers when the test tells it to. */
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

test('a key may have a limited number of calls waiting, and does not delay others', async (t) => {
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

test('a refused request is not charged, and a batch counts all of its calls at once', async (t) => {
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

test('a client that disconnects frees its place', async (t) => {
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

test('a request that is beyond the rate takes no place', async (t) => {
  const { gateway, reach, letAnswer } = await setUp(t, { concurrency_per_key: 16, wire: { maxSockets: 32 } });
  const charge = () => ({ message: 'too many', retryAfter: 1 });
  for (const count of [1, 40]) {
    const body = JSON.stringify(count === 1 ? calls(1)[0] : calls(count));
    assert.equal((await gateway.answer(body, { charge })).status, 429);
  }
  const batch = gateway.answer(JSON.stringify(calls(16)));
  await reach(16);
  letAnswer();
  assert.equal((await batch).status, 200);
});

test('a batch of more than 1,000 calls is charged as one and refused with an error per id', async (t) => {
  const { node, gateway } = await setUp(t);
  let charged = 0;
  const charge = (count: number) => {
    charged += count;
    return null;
  };
  const notification = { jsonrpc: '2.0', method: 'eth_chainId' };
  const named = calls(1_001).map((call, i) => ({ ...call, id: `é${i}` }));
  for (const batch of [named, [notification, ...named.slice(1)]]) {
    const { status, body } = await gateway.answer(JSON.stringify(batch), { charge });
    const errors = JSON.parse(String(body)) as { id: unknown; error: { code: number; message: string } }[];
    assert.equal(status, 200);
    assert.deepEqual(
      errors.map(({ id }) => id),
      batch.flatMap((call) => ('id' in call ? [call.id] : [])),
    );
    assert.ok(errors.every(({ error }) => error.code === -32600 && /at most 1000/.test(error.message)));
  }
  for (const batch of [Array(1_001).fill(notification), Array(20_000).fill(1)]) {
    const { body } = await gateway.answer(JSON.stringify(batch), { charge });
    const { id, error } = JSON.parse(String(body));
    assert.deepEqual([id, error.code], [null, -32600], 'no ids, or too many calls to list them');
  }
  assert.deepEqual([charged, node.received.length], [4, 0]);
});

test('a batch of 1,000 calls is answered in its order', async (t) => {
  const node = await startNode(t, (body, response) => {
    const { id, params } = JSON.parse(body);
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params }));
  });
  const gateway = startGateway(t, { url: node.url });
  const { status, body } = await gateway.answer(JSON.stringify(calls(1_000)));
  const answers = JSON.parse(String(body)) as { id: number; result: string[] }[];
  assert.equal(status, 200);
  assert.deepEqual(
    answers.map(({ id, result }) => [id, result[0]]),
    calls(1_000).map(({ id, params }) => [id, params[0]]),
  );
});

test('a method that is not offered is refused by name and never reaches the node', async (t) => {
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

/** A node that answers requests for code and logs when the test tells it to, and everything else at once. */
async function setUpSlow(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const reply = answering(({ method, params: [number = ''] }) => {
    const header = { number, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` };
    return method === 'eth_blockNumber' ? '0x100' : header;
  });
  const node = await startNode(t, (body, response, request) => {
    for (const { params } of [JSON.parse(body)].flat()) asked.push(params[0]);
    if (/eth_getCode|eth_getLogs/.test(body)) waiting.push(() => reply(body, response, request));
    else reply(body, response, request);
  });
  return { node, waiting, asked, gateway: startGateway(t, { url: node.url, ...options }) };
}

test('a key that keeps the node busy leaves sockets to others, at the default settings', async (t) => {
  const { max_sockets, concurrency_per_key } = configSchema.parse({}).rpc;
  const { node, waiting, gateway } = await setUpSlow(t, {
    concurrency_per_key,
    wire: { maxSockets: max_sockets },
  });
  const callsOf = (key: number) =>
    Array.from({ length: 2 * max_sockets }, (_, i) => gateway.call('eth_getCode', [`${key} ${i}`], key));
  const own = callsOf(1);
  const share = (max_sockets * 3) / 4;
  await waitFor(() => node.received.length === share, { what: 'three quarters of the sockets to be taken' });
  const startedAt = performance.now();
  for (let i = 0; i < 5; i++) {
    assert.equal((await gateway.call('eth_getBalance', [String(i)], 2)).status, 200);
  }
  assert.ok(performance.now() - startedAt < 1_000);
  const others = callsOf(2);
  await waitFor(() => node.mostAtOnce() > share, { what: 'a second busy key to get some' });
  assert.equal((await gateway.call('eth_getBalance', ['3'], 3)).status, 200, 'and a third one finds one');
  await waitFor(
    () => {
      for (const answer of waiting.splice(0)) answer();
      return node.received.length === 4 * max_sockets + 6;
    },
    { what: 'what waited to be asked' },
  );
  for (const answer of waiting.splice(0)) answer();
  for (const { status } of await Promise.all([...own, ...others])) assert.equal(status, 200);
});

test('the parts of a split eth_getLogs count as calls of the key', async (t) => {
  const { waiting, gateway } = await setUpSlow(t, { wire: { maxSockets: 8 }, logs_node_range: 1 });
  const filter = { fromBlock: '0x1', toBlock: '0x40' };
  const left = new AbortController();
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] };
  const logs = gateway.answer(JSON.stringify(body), {}, left.signal);
  await waitFor(() => waiting.length === 6, { what: 'six of eight parts to be at the node' });
  assert.equal((await gateway.call('eth_getBalance', ['0x1'], 2)).status, 200);
  left.abort(new Error('left'));
  await assert.rejects(logs, /left/);
});

test('serves waiting calls round-robin by key, and never merges waiting calls of two keys', async (t) => {
  const { node, waiting, asked, gateway } = await setUpSlow(t, { wire: { maxSockets: 1 } });
  const calls = [
    ['1a', 1],
    ['1b', 1],
    ['1c', 1],
    ['1d', 1],
    ['2a', 2],
    ['2b', 2],
    ['3a', 3],
    ['1c', 3],
  ] as const;
  const answers = calls.map(([name, key]) => gateway.call('eth_getCode', [name], key));
  for (let count = 1; count <= calls.length; count++) {
    await waitFor(() => node.received.length === count && waiting.length === 1, { what: `call ${count}` });
    waiting.pop()?.();
  }
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
  assert.deepEqual(asked, ['1a', '1b', '2a', '3a', '1c', '2b', '1c', '1d']);
});

test('a key that fills the queue leaves places for others', async (t) => {
  const { node, waiting, gateway } = await setUpSlow(t, { wire: { maxSockets: 1, maxWaiting: 8 } });
  const own = Array.from({ length: 20 }, (_, i) => gateway.call('eth_getCode', [String(i)]));
  const other = gateway.call('eth_getBalance', ['0x1'], 2);
  await waitFor(() => waiting.length === 1, { what: 'the first call' });
  let left = own.length;
  for (const call of own) void call.then(() => left--);
  await waitFor(
    () => {
      waiting.pop()?.();
      return left === 0;
    },
    { what: 'all to be answered' },
  );
  assert.equal((await other).status, 200);
  assert.equal(node.received.length, 1 + 6 + 1, 'one ran, six of eight places it took, and one the other');
});

test('a key whose incoming answers take much memory leaves some for others', async (t) => {
  const held: (() => void)[] = [];
  const node = await startNode(t, (body, response) => {
    const { id, params } = JSON.parse(body);
    response.write(`{"jsonrpc":"2.0","id":${id},"result":"${'0'.repeat(params[0] * 2 ** 20)}`);
    if (params[0] < 60) response.end('"}');
    else held.push(() => response.end('"}'));
  });
  const gateway = startGateway(t, { url: node.url });
  const refused: unknown[] = [];
  const own = ['a', 'b', 'c', 'd', 'e'].map(async (one) => {
    const { error } = await gateway.call('eth_getCode', [60, one]);
    if (error !== undefined) refused.push(error.code);
  });
  await waitFor(() => refused.length > 0, { what: '300 MiB to be too much' });
  assert.notEqual((await gateway.call('eth_getCode', [20], 2)).result, undefined);
  for (const finish of held) finish();
  await Promise.all(own);
  assert.ok(
    refused.every((code) => code === -32005),
    'each would fit alone, so that asking again helps',
  );
});

test('calls that wait their turn at a slow node are answered, however long all of them take', async (t) => {
  const node = await startNode(t, (body, response) => {
    const { id, params } = JSON.parse(body);
    setTimeout(() => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params })), 400);
  });
  const gateway = startGateway(t, { url: node.url, wire: { maxSockets: 4, timeoutMs: 800 } });
  const answers = await Promise.all(calls(15).map(({ method, params }) => gateway.call(method, params)));
  for (const { status } of answers) assert.equal(status, 200);
});

test('calls never sent because those before them hang do not count as failures of the node', async (t) => {
  const { node, gateway, reach, letAnswer } = await setUp(t, { wire: { maxSockets: 4, timeoutMs: 500 } });
  const hanging = calls(9).map(({ method, params }) => gateway.call(method, params));
  await reach(3);
  for (const { status } of await Promise.all(hanging)) assert.equal(status, 504);
  assert.equal(node.received.length, 3);
  const other = gateway.call('eth_getCode', ['of another'], 2);
  await reach(4);
  letAnswer();
  assert.equal((await other).status, 200);
});
