import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { UpstreamError, type UpstreamFailure } from '../../src/lib/errors.ts';
import { RpcClient, type RpcClientOptions } from '../../src/node/client.ts';
import { freePort } from '../support/free-port.ts';
import { type MisbehavingNode, NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

describe('a single call', () => {
  let node: MisbehavingNode;
  const clients: RpcClient[] = [];

  function connect(options: Partial<RpcClientOptions> = {}): RpcClient {
    const client = new RpcClient({
      url: node.url,
      timeoutMs: 20_000,
      maxSockets: 2,
      maxBatch: 10,
      ...options,
    });
    clients.push(client);
    return client;
  }

  beforeEach(async () => {
    node = await startMisbehavingNode({
      answer: (method, params) => {
        if (method === 'fail') throw new NodeError(3, 'execution reverted: naïve ✗');
        return { method, params, text: 'Grüße 🌍' };
      },
    });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await node.close();
  });

  it('sends method and params and returns the result, texts outside ASCII intact', async () => {
    const result = await connect().call('eth_test', ['0x1', { a: true }]);
    assert.deepEqual(result, { method: 'eth_test', params: ['0x1', { a: true }], text: 'Grüße 🌍' });
  });

  it('keeps sockets alive between calls and opens no more than allowed', async () => {
    const client = connect({ maxSockets: 2 });
    await Promise.all(Array.from({ length: 20 }, () => client.call('eth_test', [])));
    assert.equal(node.connections, 2);
    await client.call('eth_test', []);
    assert.equal(node.connections, 2);
  });

  it("fails with the node's code and message when the node answers with an error", async () => {
    await rejectsAs('rpc', connect().call('fail', []), /^fail: execution reverted: naïve ✗ \(3\)$/, 3);
  });

  it('is repeated, with tries, where one of several servers broke', async () => {
    const client = connect({ tries: 3 });
    const broken = [
      { kind: 'body', status: 500, text: 'oops' },
      { kind: 'body', status: 502, text: '' },
      { kind: 'body', status: 520, text: 'error code: 520' },
      { kind: 'body', status: 529, text: '' },
      { kind: 'body', status: 204, text: '' },
      { kind: 'body', status: 200, text: '<html>Just a moment</html>' },
      { kind: 'body', status: 200, text: '' },
      { kind: 'reset' },
    ] as const;
    for (const wire of broken) {
      node.requests.length = 0;
      node.misbehave({ wire, times: 2 });
      assert.ok(await client.call('eth_test', []), JSON.stringify(wire));
      node.misbehave({ wire, times: 2 });
      assert.equal(
        (
          await client.batch([
            { method: 'a', params: [] },
            { method: 'b', params: [] },
          ])
        ).length,
        2,
      );
      assert.equal(client.batchSize, 10, 'the batch was not too large');
      node.misbehave({ wire, times: 2 });
      await assert.rejects(connect().call('eth_test', []), 'without tries');
      node.misbehave({ wire });
      await assert.rejects(client.call('eth_test', []));
    }
  });

  it('is not repeated where the node says no, is down, or names a time', async () => {
    const client = connect({ tries: 3 });
    for (const wire of [
      { kind: 'body', status: 400, text: 'no' },
      { kind: 'body', status: 403, text: '<html>' },
      { kind: 'body', status: 503, text: 'later', retryAfter: '1' },
    ] as const) {
      node.requests.length = 0;
      node.misbehave({ wire });
      await rejectsAs('http', client.call('eth_test', []));
      assert.equal(node.requests.length, 1);
    }
    await node.close();
    const before = performance.now();
    await rejectsAs('connection', client.call('eth_test', []));
    assert.ok(performance.now() - before < 1_000);
  });

  it('fails as timeout when the answer is late, and the socket is not used for another call', async () => {
    const client = connect({ timeoutMs: 1_000, maxSockets: 1 });
    node.misbehave({ wire: { kind: 'hang' }, times: 1 });
    await rejectsAs(
      'timeout',
      client.call('eth_test', []),
      /eth_test: no complete answer within 1000 ms; asked http/,
    );
    await waitFor(() => node.connections === 0, { what: 'the socket to be closed' });
    assert.ok(await client.call('eth_test', []));
  });

  it('counts waiting for a free socket into the timeout', async () => {
    const client = connect({ timeoutMs: 60, maxSockets: 1 });
    node.misbehave({ wire: { kind: 'hang' } });
    const calls = [client.call('a', []), client.call('b', [])];
    await Promise.all(calls.map((call) => rejectsAs('timeout', call)));
  });

  it('fails at once when too many calls wait for a socket', async () => {
    const client = connect({ maxSockets: 1 });
    node.misbehave({ wire: { kind: 'hang' } });
    const calls = Array.from({ length: 1 + 4096 }, () => client.call('eth_test', []));
    const settled = Promise.allSettled(calls);
    await rejectsAs('queue-full', client.call('eth_test', []), /4096 requests already wait/);
    await client.close();
    assert.ok((await settled).every(({ status }) => status === 'rejected'));
  });

  it('fails as connection when the node resets, closes within the body or sends less than promised', async () => {
    const client = connect();
    node.misbehave({ wire: { kind: 'reset' } });
    await rejectsAs('connection', client.call('eth_test', []));
    node.misbehave({ wire: { kind: 'truncate', afterBytes: 10 } });
    await rejectsAs('connection', client.call('eth_test', []));
    node.misbehave({ wire: { kind: 'wrong-length', by: 5 } });
    await rejectsAs('connection', client.call('eth_test', []));
  });

  it('does not mistake an unsolicited message for the answer to the next call', async (t) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).on('data', () => socket.write(answerOf('asked for')));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const answerOf = (result: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
      return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    const client = connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    assert.equal(await client.call('eth_test', []), 'asked for');
    sockets[0]?.write(answerOf('not asked for'));
    await waitFor(() => sockets[0]?.destroyed, { what: 'the connection to be closed' });
    assert.equal(await client.call('eth_test', []), 'asked for');
    assert.equal(sockets.length, 2);
  });

  it('fails as connection when nothing listens on the port', async () => {
    const client = connect({ url: `http://127.0.0.1:${await freePort()}` });
    await rejectsAs('connection', client.call('eth_test', []), /ECONNREFUSED/);
  });

  it('fails as malformed when the body ends before the JSON does', async () => {
    node.misbehave({ wire: { kind: 'wrong-length', by: -5 } });
    await rejectsAs('malformed', connect().call('eth_test', []));
  });

  it('fails as malformed when the answer is not HTTP, not JSON or not an answer to the call', async () => {
    const client = connect();
    node.misbehave({ wire: { kind: 'not-http' } });
    await rejectsAs('malformed', client.call('eth_test', []), /not an HTTP\/1.1 answer/);
    const bodies = [
      '',
      '<html>hello</html>',
      'null',
      '[]',
      '"0x1"',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":2,"result":"0x1"}',
      '{"jsonrpc":"2.0","id":null,"result":"0x1"}',
      '{"jsonrpc":"2.0","id":2,"error":"sorry"}',
      '{"jsonrpc":"2.0","id":1,"error":true}',
      '\u0000\u0001\u0002',
    ];
    for (const text of bodies) {
      node.misbehave({ wire: { kind: 'body', status: 200, text } });
      await rejectsAs('malformed', client.call('eth_test', []), /^eth_test: malformed answer: /);
    }
  });

  it("takes a node's error in every form in which proxies send it", async () => {
    const client = connect();
    const forms: [error: string, message: string, code?: number][] = [
      ['{"code":-32000,"message":"no"}', 'no (-32000)', -32_000],
      ['{"code":"-32000","message":"no"}', 'no (-32000)', -32_000],
      ['{"code":"FORBIDDEN","message":"no"}', 'no'],
      ['{"message":"no"}', 'no'],
      ['{"code":-32000,"message":null,"data":"no"}', 'no (-32000)', -32_000],
      ['{"code":-32000}', '{"code":-32000} (-32000)', -32_000],
      ['"no"', 'no'],
    ];
    for (const [error, message, code] of forms) {
      for (const id of ['"id":1,', '"id":null,', '']) {
        node.misbehave({ wire: { kind: 'body', status: 200, text: `{${id}"error":${error}}` } });
        await assert.rejects(client.call('eth_test', []), (thrown) => {
          assert.ok(thrown instanceof UpstreamError, String(thrown));
          assert.deepEqual(
            [thrown.reason, thrown.message, thrown.code],
            ['rpc', `eth_test: ${message}`, code],
            error,
          );
          return true;
        });
      }
    }
  });

  it('reads an answer behind a byte order mark', async () => {
    node.misbehave({ wire: { kind: 'body', status: 200, text: '\ufeff{"id":1,"result":"0x1"}' } });
    assert.equal(await connect().call('eth_test', []), '0x1');
  });

  it('takes null for a result and an error of null for none', async () => {
    const client = connect();
    node.misbehave({ nullFor: ['eth_test'] });
    assert.equal(await client.call('eth_test', []), null);
    node.misbehave({ wire: { kind: 'body', status: 200, text: '{"id":1,"error":null,"result":"0x1"}' } });
    assert.equal(await client.call('eth_test', []), '0x1');
  });

  it('fails as http with the beginning of an HTML page, or with the JSON-RPC error in the body', async () => {
    const client = connect();
    node.misbehave({ wire: { kind: 'body', status: 429, text: `<html>${'slow down '.repeat(100)}</html>` } });
    await rejectsAs('http', client.call('eth_test', []), /^eth_test: HTTP 429: "<html>slow down .{1,90}$/);
    const text = JSON.stringify({ id: null, error: { code: -32601, message: 'not on this plan' } });
    node.misbehave({ wire: { kind: 'body', status: 403, text } });
    await rejectsAs('http', client.call('eth_test', []), /HTTP 403: not on this plan/, -32601);
    node.misbehave({ wire: { kind: 'body', status: 301, text: '' } });
    await rejectsAs('http', client.call('eth_test', []), /HTTP 301: a redirect, which is not followed: name/);
  });

  it('fails as too-large however a node words it, and for an answer over its own limit', async () => {
    const client = connect({ maxResponseBytes: 10_000 });
    node.misbehave({ maxBytes: 10 });
    await rejectsAs('too-large', client.call('eth_test', []), /response exceeds size limit/);
    node.misbehave({ errorFor: { eth_test: { code: -32003, message: 'response too large' } } });
    await rejectsAs('too-large', client.call('eth_test', []), /response too large/);
    node.misbehave({ errorFor: { eth_test: { code: -32008, message: 'Response is too big' } } });
    await rejectsAs('too-large', client.call('eth_test', []));
    node.misbehave({ wire: { kind: 'body', status: 413, text: '' } });
    await rejectsAs('too-large', client.call('eth_test', []));
    node.misbehave({ replace: () => 'x'.repeat(20_000) });
    await rejectsAs('too-large', client.call('eth_test', []), /exceeds 10000 bytes/);
  });

  it('takes a large answer that does not say how long it is, up to the own limit', async () => {
    const result = '0123456789'.repeat(50_000);
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
    node.misbehave({ wire: { kind: 'until-close', text } });
    assert.equal(await connect({ maxResponseBytes: text.length }).call('eth_test', []), result);
    const client = connect({ maxResponseBytes: text.length - 1 });
    await rejectsAs('too-large', client.call('eth_test', []), /exceeds 500035 bytes/);
  });

  it("rejects with the signal's reason when aborted before, while waiting and while answered", async () => {
    const client = connect({ maxSockets: 1 });
    const reason = new Error('enough');
    await assert.rejects(client.call('eth_test', [], AbortSignal.abort(reason)), reason);
    node.misbehave({ wire: { kind: 'hang' }, times: 1 });
    const seen = node.requests.length;
    const controller = new AbortController();
    const calls = [client.call('a', [], controller.signal), client.call('b', [], controller.signal)];
    const rejected = Promise.all(calls.map((call) => assert.rejects(call, reason)));
    await waitFor(() => node.requests.length > seen, { what: 'the first call at the node' });
    controller.abort(reason);
    await rejected;
    assert.equal(node.requests.length, seen + 1);
    await waitFor(() => node.connections === 0, { what: 'the socket of the aborted call to be closed' });
    assert.ok(await client.call('eth_test', []));
  });

  it('sends once more, over a new socket, what was lost with one that the node closes after some answers', async () => {
    const client = connect({ maxSockets: 1 });
    await client.call('eth_test', []);
    node.misbehave({ wire: { kind: 'reset' }, times: 1 });
    assert.ok(await client.call('eth_test', []));
    assert.equal(node.requests.length, 3);
    node.misbehave({ wire: { kind: 'reset' } });
    await rejectsAs('connection', client.call('eth_test', []));
    await rejectsAs('connection', client.call('eth_test', []));
    assert.equal(node.requests.length, 6, 'a new socket tells of the node, so that nothing is sent again');
  });

  it('sends credentials of the URL as a header and shows neither them nor the path in messages', async () => {
    const url = node.url.replace('http://', 'http://us%20er:pä:ss@').concat('/v1/SECRET?key=SECRET');
    const client = connect({ url });
    await client.call('eth_test', []);
    const { headers, path } = node.requests.at(-1)!;
    assert.match(headers['user-agent'] ?? '', /^atlas-node\/\d/);
    assert.equal(headers['accept-encoding'], 'identity');
    assert.equal(headers.authorization, `Basic ${Buffer.from('us er:pä:ss').toString('base64')}`);
    assert.equal(path, '/v1/SECRET?key=SECRET');
    for (const kind of ['reset', 'hang', 'not-http'] as const) {
      node.misbehave({ wire: { kind } });
      const failing = connect({ url, timeoutMs: 100 });
      await assert.rejects(failing.call('eth_test', []), (error: Error) => {
        const text = `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}`;
        return !/SECRET|us%20er|us er|ss@/.test(text) && text.includes('127.0.0.1');
      });
    }
  });

  it('gives advice when a node does not speak TLS', async () => {
    const client = connect({ url: node.url.replace('http://', 'https://') });
    await rejectsAs('connection', client.call('eth_test', []), /does not speak TLS there: use http:\/\//);
  });

  it('reports the outcome of every call except aborted ones', async () => {
    const told: [string, UpstreamFailure | null][] = [];
    const client = connect({
      onCall: (method, seconds, failure) => {
        assert.ok(seconds > 0 && seconds < 60);
        told.push([method, failure]);
      },
    });
    await client.call('eth_test', []);
    await client.call('fail', []).catch(() => undefined);
    node.misbehave({ wire: { kind: 'reset' } });
    await client.call('eth_test', []).catch(() => undefined);
    await client.call('eth_test', [], AbortSignal.abort()).catch(() => undefined);
    assert.deepEqual(told, [
      ['eth_test', null],
      ['fail', 'rpc'],
      ['eth_test', 'connection'],
    ]);
  });

  it('fails calls under way and later ones when closed, and leaves no socket', async () => {
    const client = connect({ maxSockets: 1 });
    node.misbehave({ wire: { kind: 'hang' } });
    const calls = [client.call('a', []), client.call('b', [])];
    const rejected = Promise.all(calls.map((call) => rejectsAs('connection', call, /closed/)));
    await client.close();
    await rejected;
    await rejectsAs('connection', client.call('c', []), /closed/);
    await waitFor(() => node.connections === 0, { what: 'sockets to be gone' });
  });
});

async function rejectsAs(
  reason: UpstreamFailure,
  promise: Promise<unknown>,
  message = /./,
  code?: number,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    if (code !== undefined) assert.equal(error.code, code);
    return true;
  });
}
