import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { UpstreamError, type UpstreamFailure } from '../../src/lib/errors.ts';
import { RpcClient, type RpcClientOptions, type RpcReply } from '../../src/node/client.ts';
import {
  type BatchOrder,
  type MisbehavingNode,
  NodeError,
  startMisbehavingNode,
} from '../support/nodes/misbehaving-node.ts';

describe('a batch', () => {
  let node: MisbehavingNode;
  let client: RpcClient;

  function reconnect(options: Partial<RpcClientOptions>): Promise<void> {
    const old = client;
    client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 4, maxBatch: 16, ...options });
    return old?.close();
  }

  beforeEach(async () => {
    node = await startMisbehavingNode({
      answer: (method, params) => {
        if (method === 'fail') throw new NodeError(-32000, 'no');
        return params[0];
      },
    });
    await reconnect({});
  });
  afterEach(async () => {
    await client.close();
    await node.close();
  });

  it('is one request, with replies and errors in the order of the calls', async () => {
    const replies = await client.batch([...echoes(3), { method: 'fail', params: [] }, ...echoes(1)]);
    assert.deepEqual(results(replies), [0, 1, 2, '-32000 fail: no (-32000)', 0]);
    assert.deepEqual(sizes(node), [5]);
  });

  it('takes replies in any order', async () => {
    node.misbehave({ order: 'reversed' });
    assert.deepEqual(results(await client.batch(echoes(16))), range(16));
  });

  it('without calls sends nothing', async () => {
    assert.deepEqual(await client.batch([]), []);
    assert.equal(node.requests.length, 0);
  });

  it('of one call is sent without a list', async () => {
    assert.deepEqual(results(await client.batch(echoes(1))), [0]);
    assert.equal(node.requests[0]?.batch, false);
  });

  it('takes the error of a call that comes with a status of its own', async () => {
    const text = JSON.stringify({ id: 1, error: { code: -32602, message: 'no such block', data: '0x1' } });
    for (const status of [400, 404, 422]) {
      node.misbehave({ wire: { kind: 'body', status, text } });
      const [reply] = await client.batch(echoes(1));
      assert.ok(reply !== undefined && 'error' in reply);
      const { reason, code, data, httpStatus } = reply.error;
      assert.deepEqual(
        { reason, code, data, httpStatus },
        { reason: 'rpc', code: -32602, data: '0x1', httpStatus: status },
      );
    }
    for (const status of [401, 429, 500]) {
      node.misbehave({ wire: { kind: 'body', status, text } });
      await assert.rejects(client.batch(echoes(1)), { reason: 'http' }, String(status));
    }
  });

  it('fails at a redirect with the address that it leads to', async () => {
    const wire = { kind: 'body', text: '' } as const;
    for (const status of [301, 302, 307, 308]) {
      node.misbehave({ wire: { ...wire, status, location: 'https://node.example/rpc' } });
      await assert.rejects(client.batch(echoes(1)), {
        reason: 'http',
        message: new RegExp(
          `HTTP ${status}: a redirect, which is not followed: name "https://node.example/\\*+"`,
        ),
      });
    }
    node.misbehave({ wire: { ...wire, status: 301 } });
    await assert.rejects(client.batch(echoes(1)), { message: /name the address that it leads to/ });
  });

  it('above the configured size is sent in parts', async () => {
    assert.deepEqual(results(await client.batch(echoes(40))), range(40));
    assert.deepEqual(sizes(node), [16, 16, 8]);
  });

  for (const order of [
    'first-twice',
    'last-missing',
    'unknown-id',
    'first-replaced-by-second',
  ] satisfies BatchOrder[]) {
    it(`with ids ${order} is divided, down to single calls if need be`, async () => {
      node.misbehave({ order });
      assert.deepEqual(results(await client.batch(echoes(4))), range(4));
      assert.deepEqual(sizes(node), [4, 2, 1, 1, 1, 1]);
    });
  }

  it('with a list of something else is malformed', async () => {
    for (const text of ['[1,2]', '[null,null]', '[[],[]]', '[]', '{}', '3', '', '<html>']) {
      node.misbehave({ wire: { kind: 'body', status: 200, text } });
      await rejectsAs('malformed', client.batch(echoes(2)));
    }
    for (const id of ['"x"', '"01"', '1.5', '0', '-1', '1e9', '[1]']) {
      const text = `[{"id":2,"result":1},{"id":${id},"result":1}]`;
      node.misbehave({ wire: { kind: 'body', status: 200, text } });
      await rejectsAs('malformed', client.batch(echoes(2)), /malformed answer/);
    }
  });

  for (const refuseAs of ['object', 'first', { status: 400 }, { status: 413 }, { status: 500 }] as const) {
    it(`refused with ${JSON.stringify(refuseAs)} is halved, and the smaller size is remembered`, async () => {
      node.misbehave({ maxBatch: 5, refuseAs });
      assert.deepEqual(results(await client.batch(echoes(16))), range(16));
      assert.deepEqual(sizes(node), [16, 8, 4, 4, 4, 4]);
      node.requests.length = 0;
      assert.deepEqual(results(await client.batch(echoes(9))), range(9));
      assert.deepEqual(sizes(node), [4, 4, 1]);
      assert.equal(client.batchSize, 4);
    });
  }

  it('ends in single calls at a node that takes no batches', async () => {
    node.misbehave({ maxBatch: 1 });
    assert.deepEqual(results(await client.batch(echoes(16))), range(16));
    node.requests.length = 0;
    assert.deepEqual(results(await client.batch(echoes(5))), range(5));
    assert.deepEqual(sizes(node), [1, 1, 1, 1, 1]);
  });

  it('ends in single calls at a proxy that knows no batches, whatever it makes of one', async () => {
    const stray = '{"id":null,"error":{"code":-32600,"message":"invalid request"}}';
    for (const text of [
      '',
      'batches are not supported',
      '<html>',
      '[]',
      '{"id":1,"result":0}',
      '[{"id":1,"result":0}]',
      '{"error":"invalid request"}',
      '[null,null,null]',
      `[{"id":1,"result":0},${stray},${stray}]`,
      '[{"id":1,"result":0},{"id":2,"resu',
    ]) {
      await reconnect({});
      node.misbehave({ maxBatch: 1, refuseAs: { status: 200, text } });
      assert.deepEqual(results(await client.batch(echoes(3))), range(3), text);
      assert.equal(client.batchSize, 1, text);
    }
  });

  it('grows again after many batches of the smaller size', async () => {
    node.misbehave({ maxBatch: 4 });
    await client.batch(echoes(8));
    assert.equal(client.batchSize, 4);
    node.misbehave({});
    node.requests.length = 0;
    while (client.batchSize === 4 && node.requests.length < 1000) await client.batch(echoes(4));
    assert.equal(client.batchSize, 8);
    assert.ok(node.requests.length > 200, `after ${node.requests.length} batches`);
  });

  it('is given up after a few tries at a node that refuses everything', async () => {
    node.misbehave({ wire: { kind: 'body', status: 500, text: 'broken' } });
    await rejectsAs('http', client.batch(echoes(16)), /HTTP 500: "broken"/);
    assert.deepEqual(sizes(node), [16, 8, 4, 2, 1]);
  });

  it('is divided down to single calls by a firewall that forbids batches', async () => {
    node.misbehave({ maxBatch: 1, refuseAs: { status: 403 } });
    assert.deepEqual(results(await client.batch(echoes(4))), range(4));
    node.misbehave({ wire: { kind: 'body', status: 403, text: 'not on this plan' } });
    await reconnect({});
    await rejectsAs('http', client.batch(echoes(4)), /HTTP 403: "not on this plan"/);
    assert.equal(client.batchSize, 16, 'it refused single calls as well');
  });

  it('is not divided when the node is busy, asks for credentials or is not there', async () => {
    await reconnect({ patienceMs: 0 });
    for (const status of [401, 429, 502, 503, 504, 521, 524, 529]) {
      node.misbehave({ wire: { kind: 'body', status, text: '<html>' } });
      await rejectsAs('http', client.batch(echoes(4)));
    }
    const errors = [
      { code: -32603, message: 'overloaded, try again later' },
      { code: -32005, message: 'limit exceeded' },
      { code: -32002, message: 'request timed out' },
    ];
    for (const error of errors) {
      node.misbehave({ wire: { kind: 'body', status: 200, text: JSON.stringify({ id: null, error }) } });
      await rejectsAs('rpc', client.batch(echoes(4)), new RegExp(error.message));
    }
    node.misbehave({ wire: { kind: 'reset' } });
    await rejectsAs('connection', client.batch(echoes(4)));
    assert.ok(node.requests.every(({ calls }) => calls.length === 4));
    assert.equal(client.batchSize, 16);
  });

  for (const tooLargeAs of ['object', 'rest'] as const) {
    it(`over the node's size limit is split when the node answers ${tooLargeAs}`, async () => {
      node.misbehave({ maxBytes: 400, tooLargeAs, replace: (_method, [n]) => `${n}`.padEnd(60) });
      const replies = results(await client.batch(echoes(16)));
      assert.deepEqual(
        replies,
        range(16).map((n) => `${n}`.padEnd(60)),
      );
    });
  }

  it('requests only the calls that geth omitted', async () => {
    node.misbehave({ maxBytes: 400, tooLargeAs: 'rest', replace: (_method, [n]) => `${n}`.padEnd(60) });
    await client.batch(echoes(16));
    const asked = node.requests.flatMap(({ calls }) => calls.map(({ params }) => params[0]));
    assert.equal(new Set(asked).size, 16);
    assert.ok(asked.length < 40, `${asked.length} calls`);
    assert.equal(client.batchSize, 16);
  });

  it('has too-large as the reply of the one call whose result alone is over the limit', async () => {
    node.misbehave({ maxBytes: 500, replace: (_method, [n]) => (n === 5 ? 'x'.repeat(1000) : n) });
    const replies = await client.batch(echoes(8));
    assert.equal(reasonOf(replies[5]), 'too-large');
    assert.deepEqual(results(replies.toSpliced(5, 1)), [0, 1, 2, 3, 4, 6, 7]);
  });

  it('is sent once, whatever error a failing contract returns', async () => {
    for (const code of [3, -32000]) {
      const message = 'execution reverted: response is too large, exceeds size limit';
      node.misbehave({ errorFor: { echo: { code, message } } });
      const replies = await client.batch(echoes(4));
      assert.deepEqual(replies.map(reasonOf), Array(4).fill('rpc'));
    }
    assert.deepEqual(sizes(node), [4, 4]);
    assert.equal(client.batchSize, 16);
  });

  it('is divided when the answer is over the own limit', async () => {
    await reconnect({ maxResponseBytes: 1000 });
    node.misbehave({ replace: (_method, [n]) => (n === 2 ? 'y'.repeat(2000) : 'x'.repeat(300)) });
    const replies = await client.batch(echoes(4));
    assert.deepEqual(replies.map(reasonOf), [null, null, 'too-large', null]);
  });

  it('as a whole rejects when a part fails, after all parts have ended', async () => {
    node.misbehave({ wire: { kind: 'reset' }, when: ({ params }) => params[0] === 20 });
    await rejectsAs('connection', client.batch(echoes(48)));
    assert.deepEqual(sizes(node), [16, 16, 16]);
  });

  it("rejects with the signal's reason when aborted", async () => {
    node.misbehave({ wire: { kind: 'hang' } });
    const reason = new Error('enough');
    await assert.rejects(client.batch(echoes(40), AbortSignal.abort(reason)), reason);
  });

  it('reports each call once, however often the batch was split', async () => {
    const told: string[] = [];
    await reconnect({ onCall: (method, _seconds, failure) => told.push(`${method} ${failure}`) });
    node.misbehave({ maxBatch: 3 });
    await client.batch([...echoes(7), { method: 'fail', params: [] }]);
    assert.deepEqual(told.sort(), [...Array(7).fill('echo null'), 'fail rpc']);
    told.length = 0;
    node.misbehave({ wire: { kind: 'reset' } });
    await client.batch(echoes(2)).catch(() => undefined);
    assert.deepEqual(told, ['echo connection', 'echo connection']);
  });
});

function echoes(count: number): { method: string; params: number[] }[] {
  return range(count).map((n) => ({ method: 'echo', params: [n] }));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** Calls of each request received by the node, in order of arrival. */
function sizes(node: MisbehavingNode): number[] {
  return node.requests.map(({ calls }) => calls.length);
}

function results(replies: readonly RpcReply[]): unknown[] {
  return replies.map((reply) =>
    'error' in reply ? `${reply.error.code} ${reply.error.message}` : reply.result,
  );
}

function reasonOf(reply: RpcReply | undefined): UpstreamFailure | null {
  return reply !== undefined && 'error' in reply ? reply.error.reason : null;
}

async function rejectsAs(reason: UpstreamFailure, promise: Promise<unknown>, message = /./): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    return true;
  });
}
