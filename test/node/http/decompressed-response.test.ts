import assert from 'node:assert/strict';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { UpstreamError } from '../../../src/lib/errors.ts';
import { BufferedHttpClient } from '../../../src/node/http/buffered-client.ts';

/** As long as a block: it takes several pieces. */
const CONTENT = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: Array.from({ length: 200_000 }, (_, i) => i),
});

const LIMITS = { timeoutMs: 10_000, maxSockets: 1, maxWaiting: 10, maxResponseBytes: 2 * CONTENT.length };

/** A client of a server that sends this, whatever it is asked. */
async function clientOf(t: TestContext, headers: OutgoingHttpHeaders, body: Buffer, limits = LIMITS) {
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = new BufferedHttpClient({ url: `http://127.0.0.1:${port}`, ...limits });
  t.after(() => client.close());
  return client;
}

const CODINGS: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  'X-GZIP': gzipSync,
  deflate: deflateSync,
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: zstdCompressSync,
};

test('an answer that a proxy compresses unasked is read, and its connection used again', async (t) => {
  for (const [coding, compress] of Object.entries(CODINGS)) {
    const body = compress(CONTENT);
    for (const how of [
      { 'content-encoding': coding, 'content-length': body.length },
      { 'content-encoding': coding },
      { 'transfer-encoding': `${coding}, chunked` },
    ]) {
      const client = await clientOf(t, how, body);
      for (let i = 0; i < 2; i++)
        assert.equal((await client.post('{}', 'eth_test')).body.toString(), CONTENT, coding);
    }
  }
  const bare = await clientOf(t, { 'content-encoding': 'deflate' }, deflateRawSync(CONTENT));
  assert.equal((await bare.post('{}', 'eth_test')).body.toString(), CONTENT);
  const empty = await clientOf(t, { 'content-encoding': 'gzip' }, Buffer.alloc(0));
  assert.equal((await empty.post('{}', 'eth_test')).body.length, 0);
});

test('a broken compressed answer is malformed, and a content beyond the limit too large', async (t) => {
  const fails = async (headers: OutgoingHttpHeaders, body: Buffer, limits = LIMITS) => {
    const client = await clientOf(t, headers, body, limits);
    const { reason, message } = await client.post('{}', 'eth_test').then(
      () => assert.fail('it was read'),
      (error: UpstreamError) => error,
    );
    await assert.rejects(client.post('{}', 'eth_test'), { reason }, 'the next one gets an answer too');
    return `${reason} ${message.replace(/;.*/, '')}`;
  };
  const gzip = { 'content-encoding': 'gzip' };
  const broken = 'malformed eth_test: the node sent a gzip body that is broken';
  assert.equal(await fails(gzip, Buffer.from(CONTENT)), broken);
  assert.equal(await fails(gzip, gzipSync(CONTENT).subarray(0, 1_000)), broken);
  assert.match(
    await fails(gzip, gzipSync(CONTENT), { ...LIMITS, maxResponseBytes: 1_000 }),
    /^too-large eth_test: the answer exceeds 1000 bytes/,
  );
});
