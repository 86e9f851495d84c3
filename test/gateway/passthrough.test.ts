import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPublicClient, http } from 'viem';
import { type Serving, serve } from '../server/serving.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { type CallResult, echo, startNode } from './node.ts';

const call = (id: string, method: string, params = '[]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

const owner = suiteCleanup();
let node: Awaited<ReturnType<typeof startNode>>;
let serving: Serving;

before(async () => {
  node = await startNode(owner, echo);
  // Without its cache, no test gets an answer of the one before.
  serving = await serve(owner, { upstream: node.url, rpc: { cache: false, local: false } });
});

/** The served node, which answers like this from now on. */
function serveNode(answer: CallResult) {
  node.answers(answer);
  return { node, serving, rpc: (body: string) => rpc(serving, body) };
}

async function rpc(serving: Serving, body: string) {
  const response = await serving.post('/rpc', body);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? null : JSON.parse(text),
  };
}

test('a call reaches the node with its parameters as written, and its result comes back byte for byte', async () => {
  const result =
    '{"difficulty":115792089237316195423570985008687907853269984665640564039457584007913129639935, "x" : 1.50}';
  const { node, rpc } = serveNode((_, response) =>
    response.end(`{"jsonrpc":"2.0","id":1,"result":${result}}`),
  );
  const answer = await rpc(call('"my id"', 'eth_call', '[{"gas":1e400, "n":12345678901234567890}]'));
  assert.equal(answer.status, 200);
  assert.equal(answer.text, `{"jsonrpc":"2.0","id":"my id","result":${result}}`);
  assert.match(node.received[0] ?? '', /"params":\[\{"gas":1e400, "n":12345678901234567890\}\]\}$/);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.notEqual(answer.headers.get('ratelimit-limit'), null);
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
});

test('returns ids of every type unchanged', async () => {
  const { rpc } = serveNode(echo);
  for (const id of ['0', '-7', '1.5', '12345678901234567890', '"text"', '"\\u0041"', 'null']) {
    const { text } = await rpc(call(id, 'eth_chainId'));
    assert.ok(text.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`), text);
  }
});

test("the node's own errors pass unchanged with HTTP 200", async () => {
  const error = '{"code":3,"message":"execution reverted","data":"0x08c379a0"}';
  const { rpc } = serveNode((_, response) => response.end(`{"jsonrpc":"2.0","id":1,"error":${error}}`));
  const answer = await rpc(call('9', 'eth_call'));
  assert.equal(answer.status, 200);
  assert.equal(answer.text, `{"jsonrpc":"2.0","id":9,"error":${error}}`);
});

test('a batch is answered in its order, whatever the order of the node', async () => {
  const waiting: (() => void)[] = [];
  const { node, rpc } = serveNode((body, response, request) => {
    waiting.push(() => echo(body, response, request));
    if (waiting.length === 3) for (const answer of waiting.reverse()) answer();
  });
  const { json, status } = await rpc(
    `[${call('"a"', 'eth_chainId')},7,${call('"b"', 'eth_gasPrice')},${call('"c"', 'admin_peers')},` +
      `${call('"d"', 'net_version')}]`,
  );
  assert.equal(status, 200);
  assert.deepEqual(
    json.map(
      ({ id, result, error }: { id: unknown; result?: { method: string }; error?: { code: number } }) => [
        id,
        result?.method ?? error?.code,
      ],
    ),
    [
      ['a', 'eth_chainId'],
      [null, -32600],
      ['b', 'eth_gasPrice'],
      ['c', -32601],
      ['d', 'net_version'],
    ],
  );
  assert.equal(node.received.length, 3, 'refused calls never reach the node');
});

test('a batch of one hundred is answered in order, sixteen calls at a time', async () => {
  const held: (() => void)[] = [];
  let count = 0;
  const { node, rpc } = serveNode((body, response, request) => {
    held.push(() => echo(body, response, request));
    count++;
    // Answers only when the permitted number of calls is waiting; with fewer, the test would not end.
    if (held.length === 16 || count === 100) for (const answer of held.splice(0)) answer();
  });
  const { json } = await rpc(
    `[${Array.from({ length: 100 }, (_, i) => call(String(i), 'eth_getStorageAt', `[${i}]`))}]`,
  );
  assert.deepEqual(
    json.map(({ id }: { id: number }) => id),
    Array.from({ length: 100 }, (_, i) => i),
  );
  assert.equal(node.mostAtOnce(), 16);
});

test('notifications reach the node and are not answered', async () => {
  const { node, rpc } = serveNode(echo);
  const notification = '{"jsonrpc":"2.0","method":"eth_sendRawTransaction","params":["0x1"]}';
  const single = await rpc(notification);
  assert.deepEqual([single.status, single.text], [204, '']);
  assert.equal(node.received.length, 1);
  const mixed = await rpc(`[${notification},${call('5', 'eth_chainId')}]`);
  assert.deepEqual(
    mixed.json.map(({ id }: { id: number }) => id),
    [5],
  );
  assert.equal((await rpc(`[${notification}]`)).status, 204);
});

test('requests that are not calls get the standard errors with HTTP 200', async () => {
  const { node, rpc } = serveNode(echo);
  for (const [body, code] of [
    ['', -32700],
    ['{"jsonrpc":', -32700],
    ['[]', -32600],
    ['{}', -32600],
    [call('1', 'eth_accounts'), -32601],
    [call('1', 'anvil_mine'), -32601],
    [call('1', 'eth_chainId', '"x"'), -32602],
  ] as const) {
    const { status, json } = await rpc(body);
    assert.deepEqual([status, json.error.code], [200, code], body.slice(0, 60));
    assert.equal(json.jsonrpc, '2.0');
    assert.ok('id' in json);
  }
  assert.equal(node.received.length, 0);
});

test('each item of a batch counts against the rate', async (t) => {
  node.answers(echo);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() }); // no bucket refills during the test
  const serving = await serve(t, { upstream: node.url });
  const { key } = serving.access.keys.create({ name: 'app', tier: 'free' });
  const batch = (count: number) =>
    serving.post('/rpc', `[${Array.from({ length: count }, (_, i) => call(String(i), 'eth_chainId'))}]`, {
      'X-API-Key': key,
    });
  const first = await batch(5);
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('ratelimit-remaining'), '0');
  const second = await serving.post('/rpc', call('"mine"', 'eth_chainId'), { 'X-API-Key': key });
  assert.equal(second.status, 429);
  assert.equal(second.headers.get('retry-after'), '01');
  assert.deepEqual(await second.json(), {
    jsonrpc: '2.0',
    id: 'mine',
    error: { code: -32005, message: 'more than 5 requests per second', data: { retryAfter: 1 } },
  });
});

test('a batch over the limits gives each call that wants an answer its error', async (t) => {
  node.answers(echo);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const serving = await serve(t, { upstream: node.url });
  const { key, record } = serving.access.keys.create({ name: 'app', tier: 'free' });
  const notification = '{"jsonrpc":"2.0","method":"eth_chainId"}';
  const refused = async (...calls: string[]) => {
    const response = await serving.post('/rpc', `[${calls}]`, { 'X-API-Key': key });
    assert.equal(response.status, 429);
    return response.json() as Promise<unknown>;
  };
  const ids = [1, 'two', 'é', 4.5, null];
  serving.access.limiter.take(record, 1);
  const errors = (await refused(
    notification,
    ...ids.map((id) => call(JSON.stringify(id), 'eth_chainId')),
  )) as { id: unknown; error: { code: number; data: unknown } }[];
  assert.deepEqual(
    errors.map(({ id }) => id),
    ids,
  );
  for (const { error } of errors) assert.deepEqual([error.code, error.data], [-32005, { retryAfter: 1 }]);
  const transport = http(`${serving.server.url}/rpc?api_key=${key}`, { batch: true, retryCount: 0 });
  const client = createPublicClient({ transport });
  const calls = Array.from({ length: 6 }, (_, i) => client.getBlock({ blockNumber: BigInt(i) }));
  // viem throws it for a batch refused with 429.
  await assert.rejects(Promise.all(calls), { name: 'HttpRequestError', status: 429 });
  const { id } = (await refused(...Array.from({ length: 6 }, () => notification))) as { id: unknown };
  assert.equal(id, null);
});

test('a call over the rate waits for its turn, and is refused if its key is revoked meanwhile', async (t) => {
  const serving = await serve(t, { upstream: (await startNode(t, echo)).url, rateWaitMs: 8_000 });
  const newKey = () => serving.access.keys.create({ name: 'app', tier: 'free' });
  const send = (key: string) => serving.post('/rpc', call('1', 'eth_getCode'), { 'X-API-Key': key });
  const patient = newKey();
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(patient.key)));
  for (const answer of answers) assert.equal(answer.status, 200);
  assert.equal(serving.access.usage.used(patient.record.id, Date.now()), 8);

  const { key, record } = newKey();
  assert.ok(serving.access.limiter.take(record, 1_000).ok);
  assert.ok(serving.access.limiter.take(record, 24).ok);
  const waiting = Promise.all([send(key), send(key)]);
  await serving.post('/rpc', call('1', 'eth_chainId'));
  serving.access.keys.revoke(record.id);
  for (const { status } of await waiting) assert.equal(status, 401);
});

test('a large call or batch over the rate waits for its turn, and pays for each call', async (t) => {
  const serving = await serve(t, { upstream: (await startNode(t, echo)).url, rateWaitMs: 8_000 });
  const { key, record } = serving.access.keys.create({ name: 'app', tier: 'free' });
  const send = (body: string) => serving.post('/rpc', body, { 'X-API-Key': key });
  const large = call('7', 'eth_getCode', `["0x${'a'.repeat(1_600_000)}"]`);
  const small = call('8', 'eth_getCode');
  assert.ok(serving.access.limiter.take(record, 5).ok);
  const batch = `[${large},${small},${small}]`;
  const answers = await Promise.all([send(large), send(small), send(batch)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const [, , ofBatch] = await Promise.all(answers.map((answer) => answer.json()));
  assert.equal(Array.isArray(ofBatch) && ofBatch.length, 3);
  assert.equal(serving.access.usage.used(record.id, Date.now()), 10);
});

test('a large batch of a key in debt is refused after the wait', async (t) => {
  const serving = await serve(t, { upstream: (await startNode(t, echo)).url, rateWaitMs: 300 });
  const { key, record } = serving.access.keys.create({ name: 'app', tier: 'free' });
  for (const calls of [1_000, 24]) assert.ok(serving.access.limiter.take(record, calls).ok);
  const large = call('7', 'eth_getCode', `["0x${'a'.repeat(1_600_000)}"]`);
  const batch = await serving.post('/rpc', `[${large}]`, { 'X-API-Key': key });
  assert.equal(batch.status, 429);
});

test('a large body is not read for a key over its limits, and costs nothing', async (t) => {
  node.answers(echo);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const serving = await serve(t, { upstream: node.url });
  const { key, record } = serving.access.keys.create({ name: 'app', tier: 'free' });
  const ask = async (body: string) => {
    const response = await serving.post('/rpc', body, { 'X-API-Key': key });
    const { id, error } = (await response.json()) as { id: unknown; error: { code: number } };
    return [response.status, response.headers.get('ratelimit-remaining'), id, error.code];
  };
  const large = call('7', 'eth_accounts', `["${'a'.repeat(600_000)}"]`);
  for (const left of ['4', '3', '2', '1', '0']) assert.deepEqual(await ask(large), [200, left, 7, -32601]);
  assert.deepEqual(await ask(large), [429, '0', null, -32005]);
  assert.deepEqual(await ask(call('7', 'eth_accounts')), [429, '0', 7, -32005]);
  assert.equal(serving.access.usage.used(record.id, Date.now()), 5);
});

test('a node that is down, slow or sends garbage causes the documented errors', async (t) => {
  const nonsense: CallResult[] = [
    (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>'),
    (_, response) => response.end('{"jsonrpc":"2.0","id":1,"resu'),
    (_, response) => response.end(''),
    (_, response) => response.socket?.destroy(),
    (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"jsonrpc":"2.0","id":1,"result":"0x1"}', () => response.socket?.destroy());
    },
  ];
  const broken = await startNode(t, echo);
  const serving = await serve(t, { upstream: broken.url });
  for (const answer of nonsense) {
    broken.answers(answer);
    const { status, json } = await rpc(serving, call('8', 'eth_chainId'));
    assert.deepEqual(
      [status, json],
      [502, { jsonrpc: '2.0', id: 8, error: { code: -32603, message: 'upstream unavailable' } }],
    );
  }
  const down = await serve(t, { upstream: 'http://127.0.0.1:9' });
  assert.equal((await rpc(down, call('8', 'eth_chainId'))).status, 502);

  broken.answers(() => undefined);
  const slow = await serve(t, { upstream: broken.url, timeoutMs: 300 });
  const { status, json } = await rpc(slow, call('8', 'eth_chainId'));
  assert.deepEqual([status, json.error], [504, { code: -32603, message: 'upstream timeout' }]);
});

test('when part of a batch fails the rest is answered', async () => {
  const { rpc } = serveNode((body, response, request) => {
    if (body.includes('eth_gasPrice')) response.socket?.destroy();
    else echo(body, response, request);
  });
  const { status, json } = await rpc(`[${call('1', 'eth_chainId')},${call('2', 'eth_gasPrice')}]`);
  assert.equal(status, 200);
  assert.equal(json[0].result.method, 'eth_chainId');
  assert.deepEqual(json[1].error, { code: -32603, message: 'upstream unavailable' });
});

test('an error of the node keeps its text when the status differs', async () => {
  const { rpc } = serveNode((_, response) => {
    response.writeHead(400).end('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad block"}}');
  });
  const { status, json } = await rpc(call('1', 'eth_chainId'));
  assert.deepEqual([status, json.error], [200, { code: -32602, message: 'bad block' }]);
});

test('a transaction is sent once, whatever its outcome', async () => {
  const { node, rpc } = serveNode((_, response) => response.socket?.destroy());
  const { status } = await rpc(call('1', 'eth_sendRawTransaction', '["0x02"]'));
  assert.equal(status, 502);
  assert.equal(node.received.length, 1);
});

test('a call to the node is cancelled when its client disconnects', async () => {
  let left = false;
  const { node, serving } = serveNode((_, response) =>
    response.on('close', () => {
      left = true;
    }),
  );
  const abort = new AbortController();
  const answer = serving.fetch('/rpc', {
    method: 'POST',
    body: call('1', 'eth_chainId'),
    signal: abort.signal,
  });
  await waitFor(() => node.received.length === 1, { what: 'the call to reach the node' });
  abort.abort();
  await assert.rejects(answer);
  await waitFor(() => left, { what: 'the call to the node to be given up' });
  assert.equal((await fetch(`${serving.server.url}/healthz`)).status, 200);
});

test('an answer of 25 MB passes', async () => {
  const result = 'ab'.repeat(12_500_000);
  const { rpc } = serveNode((_, response) => response.end(`{"jsonrpc":"2.0","id":1,"result":"0x${result}"}`));
  const { text } = await rpc(call('3', 'eth_call'));
  assert.equal(text.length, result.length + '{"jsonrpc":"2.0","id":3,"result":"0x"}'.length);
  assert.ok(text.startsWith('{"jsonrpc":"2.0","id":3,"result":"0xabab'));
});

test('calls are counted by known methods only', async () => {
  const { serving, rpc } = serveNode(echo);
  const counts = async () => {
    const text = await serving.metrics.render();
    assert.equal(text.includes('MadeThisUp'), false);
    const count = (method: string) =>
      Number(new RegExp(`requests_total{method="${method}",status="200"} (\\d+)`).exec(text)?.[1] ?? 0);
    return { chainId: count('eth_chainId'), other: count('other') };
  };
  const before = await counts();
  await rpc(`[${call('1', 'eth_chainId')},${call('2', 'eth_clientMadeThisUp')}]`);
  assert.deepEqual(await counts(), { chainId: before.chainId + 1, other: before.other + 1 });
});

test('viem works through it, single and in batches', async () => {
  const { serving } = serveNode((body, response) => {
    const { id, method } = JSON.parse(body);
    const result = method === 'eth_blockNumber' ? '0x10' : '0x8f';
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  for (const batch of [false, true]) {
    const client = createPublicClient({
      transport: http(`${serving.server.url}/rpc?api_key=${serving.key}`, { batch, retryCount: 0 }),
    });
    assert.deepEqual(await Promise.all([client.getBlockNumber({ cacheTime: 0 }), client.getChainId()]), [
      16n,
      143,
    ]);
  }
});
