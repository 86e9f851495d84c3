import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startMisbehavingNode, type Wire } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';
import { type Reply, startGateway, type TestGatewayOptions } from './gateway.ts';

const UNAVAILABLE = { code: -32603, message: 'upstream unavailable' };
const TIMEOUT = { code: -32603, message: 'upstream timeout' };

/** Unusable answers after which a retry may help. */
const WIRES: Record<string, Wire> = {
  'a reset': { kind: 'reset' },
  'half an answer': { kind: 'truncate', afterBytes: 20 },
  'no answer at all': { kind: 'truncate', afterBytes: 0 },
  'bytes that are not HTTP': { kind: 'not-http' },
  'fewer bytes than announced': { kind: 'wrong-length', by: 5 },
  'HTML with 502': { kind: 'body', status: 502, text: '<html>Bad Gateway</html>' },
  'HTML with 503': { kind: 'body', status: 503, text: '<html>Unavailable</html>' },
  'HTML with 200': { kind: 'body', status: 200, text: '<html>Welcome</html>' },
  'broken JSON': { kind: 'body', status: 200, text: '{"jsonrpc":"2.0","id":1,"result":' },
  'no result': { kind: 'body', status: 200, text: '{"jsonrpc":"2.0","id":1,"result":}' },
  'a result cut short': { kind: 'body', status: 200, text: '{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":1}' },
  'two answers': {
    kind: 'body',
    status: 200,
    text: '{"jsonrpc":"2.0","id":1,"result":"0x1"}{"jsonrpc":"2.0","id":1,"result":"0x2"}',
  },
  'two answers about objects': {
    kind: 'body',
    status: 200,
    text: '{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":1,"result":{}}',
  },
  'the beginning of an answer as long as the connection': {
    kind: 'until-close',
    text: '{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":{}}',
  },
  'an empty body': { kind: 'body', status: 200, text: '' },
};

async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const node = await startMisbehavingNode({ answer: (method) => `answer to ${method}` });
  t.after(() => node.close());
  return { node, gateway: startGateway(t, { url: node.url, ...options }) };
}

for (const [what, wire] of Object.entries(WIRES)) {
  test(`${what}: a read is retried once, a transaction never`, async (t) => {
    const { node, gateway } = await setUp(t);
    node.misbehave({ wire, times: 1 });
    assert.deepEqual(await gateway.call('eth_gasPrice'), {
      status: 200,
      jsonrpc: '2.0',
      id: 7,
      result: 'answer to eth_gasPrice',
    });
    assert.equal(node.requests.length, 2);

    node.misbehave({ wire });
    const failed = await gateway.call('eth_gasPrice');
    assert.deepEqual([failed.status, failed.error], [502, UNAVAILABLE]);
    assert.equal(node.requests.length, 4);

    const sent = await gateway.call('eth_sendRawTransaction', ['0x02']);
    assert.deepEqual([sent.status, sent.error], [502, UNAVAILABLE]);
    assert.equal(node.requests.length, 5);

    node.misbehave({});
    assert.equal(await gateway.result('eth_gasPrice'), 'answer to eth_gasPrice');
    assert.equal(await gateway.result('eth_sendRawTransaction', '0x02'), 'answer to eth_sendRawTransaction');
    assert.equal(node.requests.length, 7);
  });
}

test('a broken answer does not break the rest of its batch', async (t) => {
  const { node, gateway } = await setUp(t);
  node.misbehave({
    wire: { kind: 'body', status: 200, text: '{"jsonrpc":"2.0","id":1,"result":{"a":[1}}' },
    when: ({ method }) => method === 'eth_getCode',
  });
  const methods = ['eth_gasPrice', 'eth_getCode', 'eth_syncing', 'eth_getBalance'];
  const calls = methods.map((method, id) => ({ jsonrpc: '2.0', id, method }));
  const { status, body } = await gateway.answer(JSON.stringify(calls));
  assert.equal(status, 200);
  assert.deepEqual(
    JSON.parse(String(body)).map(({ result, error }: Reply) => result ?? error),
    ['answer to eth_gasPrice', UNAVAILABLE, 'answer to eth_syncing', 'answer to eth_getBalance'],
  );
});

test('an answer that ends with the connection is forwarded if it is complete', async (t) => {
  const { node, gateway } = await setUp(t);
  const result = 'ab'.repeat(500_000);
  node.misbehave({ wire: { kind: 'until-close', text: `{"jsonrpc":"2.0","id":1,"result":"${result}"}` } });
  assert.equal(await gateway.result('eth_getCode'), result);
});

test('a 401 of the node is not retried', async (t) => {
  const { node, gateway } = await setUp(t);
  node.misbehave({ wire: { kind: 'body', status: 401, text: '<html>no</html>' } });
  const { error } = await gateway.call('eth_gasPrice');
  assert.deepEqual(error, UNAVAILABLE);
  assert.equal(node.requests.length, 1);
});

test('a hanging or slow node causes the timeout error without a retry', async (t) => {
  const { node, gateway } = await setUp(t, { wire: { timeoutMs: 300 } });
  for (const fault of [{ wire: { kind: 'hang' } as const }, { delayMs: 5_000 }]) {
    node.misbehave(fault);
    const startedAt = performance.now();
    for (const method of ['eth_gasPrice', 'eth_sendRawTransaction']) {
      const { status, error } = await gateway.call(method, ['0x02']);
      assert.deepEqual([status, error], [504, TIMEOUT]);
    }
    const took = performance.now() - startedAt;
    assert.ok(took > 550 && took < 15_000, `${took} ms`);
  }
  assert.equal(node.requests.length, 4);
  node.misbehave({});
  assert.equal(await gateway.result('eth_gasPrice'), 'answer to eth_gasPrice');
});

test('connections that the node closed while they were idle cost no call', async (t) => {
  const { node, gateway } = await setUp(t);
  for (let round = 0; round < 5; round++) {
    assert.equal(await gateway.result('eth_gasPrice'), 'answer to eth_gasPrice');
    node.drop();
    assert.equal(await gateway.result('eth_sendRawTransaction', '0x02'), 'answer to eth_sendRawTransaction');
    node.drop();
  }
  assert.equal(node.requests.filter(({ calls }) => calls[0]?.method === 'eth_sendRawTransaction').length, 5);
});

test('a failing node gets only probes, and all calls once it is back', async (t) => {
  const { node, gateway } = await setUp(t);
  node.misbehave({ wire: { kind: 'reset' } });
  const answers = [];
  for (let i = 0; i < 100; i++) answers.push(await gateway.call('eth_getBalance', [String(i)]));
  assert.ok(answers.every(({ status, error }) => status === 502 && error?.message === UNAVAILABLE.message));
  assert.ok(node.requests.length < 20, `${node.requests.length} of a hundred calls reached the node`);
  assert.ok(
    gateway.logs.some((line) => line.includes('the node keeps failing; sending only occasional probes')),
  );
  assert.ok(gateway.logs.length < 30, 'the log does not grow with the calls');

  await node.close();
  assert.equal((await gateway.call('eth_gasPrice')).status, 502);
  await node.listen();
  node.misbehave({});
  await waitFor(async () => (await gateway.call('eth_gasPrice')).status === 200, {
    what: 'the node to be asked again',
  });
  for (let i = 0; i < 20; i++) await gateway.result('eth_getBalance', String(i));
  assert.ok(gateway.logs.some((line) => line.includes('the node answers again')));
});

test('a node that is down from the start is served as soon as it is up', async (t) => {
  const node = await startMisbehavingNode({ answer: () => '0x1' });
  t.after(() => node.close());
  const { url } = node;
  await node.close();
  const gateway = startGateway(t, { url });
  for (let i = 0; i < 10; i++) assert.equal((await gateway.call('eth_chainId')).status, 502);
  await node.listen();
  await waitFor(async () => (await gateway.call('eth_chainId')).status === 200, {
    what: 'the node to be found',
  });
});

test('JSON-RPC errors of the node do not count as failures', async (t) => {
  const { node, gateway } = await setUp(t);
  node.misbehave({ errorFor: { eth_call: { code: 3, message: 'execution reverted' } } });
  for (let i = 0; i < 20; i++) {
    const { status, error } = await gateway.call('eth_call', [{}, 'latest']);
    assert.deepEqual([status, error], [200, { code: 3, message: 'execution reverted' }]);
  }
  assert.equal(node.requests.length, 20);
});

test('a refusal that concerns the request does not count as a failure and is not retried', async (t) => {
  const { node, gateway } = await setUp(t);
  for (const status of [400, 404, 413, 422]) {
    node.misbehave({ wire: { kind: 'body', status, text: '<html>no</html>' } });
    for (let i = 0; i < 10; i++) {
      const { status, error } = await gateway.call('eth_getBalance', [String(i)]);
      assert.deepEqual([status, error], [502, UNAVAILABLE]);
    }
  }
  assert.equal(node.requests.length, 40);
  assert.equal(gateway.logs.filter((line) => line.includes('call to the node failed')).length < 10, true);
  node.misbehave({ wire: { kind: 'body', status: 401, text: '<html>no</html>' } });
  for (let i = 0; i < 10; i++) await gateway.call('eth_getBalance', [String(i)]);
  assert.ok(node.requests.length < 50, 'what it refuses to everybody does');
});

test('calls beyond the sockets are queued; calls beyond the queue are refused at once', async (t) => {
  const { node, gateway } = await setUp(t, {
    wire: { maxSockets: 2, maxWaiting: 3 },
    merge: false,
    concurrency_per_key: 100,
  });
  node.misbehave({ delayMs: 100 });
  const calls = await Promise.all(
    Array.from({ length: 10 }, (_, i) => gateway.call('eth_getCode', [String(i)])),
  );
  assert.equal(calls.filter(({ status }) => status === 200).length, 5);
  assert.equal(calls.filter(({ status }) => status === 502).length, 5);
  assert.ok(node.connections <= 2);
  assert.equal(node.requests.length, 5, 'no refused call was tried again');
  assert.equal(
    await gateway.result('eth_gasPrice'),
    'answer to eth_gasPrice',
    'the node is not held to fail',
  );
});

test('neither parameters nor keys are logged', async (t) => {
  const { node, gateway } = await setUp(t, { slow_ms: 1 });
  node.misbehave({ delayMs: 20 });
  await gateway.call('eth_getBalance', ['0xsecretaddress', 'latest']);
  node.misbehave({ wire: { kind: 'reset' } });
  await gateway.call('eth_getBalance', ['0xsecretaddress', 'latest']);
  const slow = gateway.logs.find((line) => line.includes('slow call'));
  assert.match(slow ?? '', /"method":"eth_getBalance","ms":\d+/);
  assert.equal(gateway.logs.join('').includes('secret'), false);
});
