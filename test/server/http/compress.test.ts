import assert from 'node:assert/strict';
import { get, type IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { bestEncoding, compressorsOfOneBody } from '../../../src/server/http/compress.ts';
import { address } from '../../support/index/index-fixture.ts';
import { type Serving, serve } from '../serving.ts';

const LONG = `/api/address_transfers?address=${address('alice')}`;
const SHORT = `/api/wallet_summary?address=${address('alice')}`;

interface RawAnswer {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A GET whose body stays as received; fetch would decompress it. */
function getRaw({ server, key }: Serving, path: string, encoding?: string): Promise<RawAnswer> {
  const headers = { 'X-API-Key': key, ...(encoding !== undefined && { 'Accept-Encoding': encoding }) };
  return new Promise((resolve, reject) => {
    get(server.url + path, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

test('an answer above 1 KiB is compressed on request and otherwise identical', async (t) => {
  const serving = await serve(t);
  serving.index.append([{ a: Array.from({ length: 40 }, (_, i) => ({ from: `wallet ${i}`, to: 'alice' })) }]);
  const plain = await getRaw(serving, LONG);
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(plain.headers.vary, 'Accept-Encoding');
  for (const [accepts, encoding, decompress] of [
    ['gzip', 'gzip', gunzipSync],
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['br;q=0.5, gzip', 'gzip', gunzipSync],
  ] as const) {
    const small = await getRaw(serving, LONG, accepts);
    assert.equal(small.headers['content-encoding'], encoding, accepts);
    assert.equal(small.headers.vary, 'Accept-Encoding');
    assert.equal(small.headers.etag, plain.headers.etag);
    assert.equal(small.headers['content-length'], String(small.body.length));
    assert.ok(
      small.body.length < plain.body.length / 2,
      `${small.body.length} of ${plain.body.length} bytes`,
    );
    assert.deepEqual(decompress(small.body), plain.body);
  }
});

test('a constant body is compressed once per encoding', async (t) => {
  const compressors = compressorsOfOneBody();
  assert.equal(compressors.br('a'), compressors.br('a'));
  assert.notEqual(compressors.br('a'), compressors.gzip('a'));
  const serving = await serve(t);
  const plain = await getRaw(serving, '/openapi.json');
  for (const round of [1, 2]) {
    const [br, gzip] = [
      await getRaw(serving, '/openapi.json', 'br'),
      await getRaw(serving, '/openapi.json', 'gzip'),
    ];
    assert.deepEqual([br.headers['content-encoding'], gzip.headers['content-encoding']], ['br', 'gzip']);
    assert.deepEqual(brotliDecompressSync(br.body), plain.body, `round ${round}`);
    assert.deepEqual(gunzipSync(gzip.body), plain.body, `round ${round}`);
  }
});

test('short answers and errors are not compressed', async (t) => {
  const serving = await serve(t);
  serving.index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  for (const path of [SHORT, '/api/wallet_summary?address=nonsense']) {
    const { headers, body } = await getRaw(serving, path, 'gzip, br');
    assert.equal(headers['content-encoding'], undefined);
    assert.ok(JSON.parse(body.toString()));
  }
});

test('the answer of a POST is compressed too', async (t) => {
  const { index, post } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const addresses = Array.from({ length: 100 }, (_, i) => address(`wallet ${i}`));
  const response = await post('/api/wallets/batch', JSON.stringify({ addresses }), {
    'Accept-Encoding': 'gzip',
  });
  assert.equal(response.headers.get('content-encoding'), 'gzip');
  const { count }: { count?: unknown } = JSON.parse(await response.text());
  assert.equal(count, 100);
});

test('Accept-Encoding is parsed with weights and wildcards', () => {
  const cases: [string, ReturnType<typeof bestEncoding>][] = [
    ['', null],
    ['identity', null],
    ['gzip;q=0', null],
    ['gzip;q=0, br;q=0', null],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1, br;q=0', 'gzip'],
    ['gzip;q=1.0, br;q=0.9', 'gzip'],
    ['br;q=nonsense, gzip;q=0.1', 'gzip'],
    [' gzip ; q=0.5 , br ; q=0.4 ', 'gzip'],
    ['gzipped', null],
    [`gzip${',x'.repeat(7_000)},br`, 'gzip'],
  ];
  for (const [header, expected] of cases) assert.equal(bestEncoding(header), expected, header);
});
