/**
 * The REST API's answers to bad input, as tables that also document them. A refusal is
 * `{"error":{"code","message","param"}}`; the message is for people and starts with the parameter's name.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts';
import { errorOf, type Serving, serve } from '../server/serving.ts';
import { document } from '../support/clients/openapi.ts';
import { address, txHash } from '../support/index/index-fixture.ts';
import { suiteCleanup } from '../support/nodes/replay.ts';

const ALICE = address('alice');
const BATCH = '/api/wallets/batch';
/** 200 means "treated as absent". */
type Outcome = 200 | 'invalid_address' | 'invalid_parameter' | 'tier_limit';

/** Values as written in the URL, with the outcome for any address parameter. */
const ADDRESSES: Record<string, [value: string | null, Outcome]> = {
  missing: [null, 'invalid_address'],
  empty: ['', 'invalid_address'],
  'without 0x': [ALICE.slice(2), 'invalid_address'],
  'one digit short': [ALICE.slice(0, 41), 'invalid_address'],
  'one digit long': [`${ALICE}0`, 'invalid_address'],
  'very long': [`0x${'a'.repeat(3_000)}`, 'invalid_address'],
  'not hex': [`0x${'g'.repeat(40)}`, 'invalid_address'],
  'prefix in upper case': [`0X${ALICE.slice(2)}`, 'invalid_address'],
  'digits in upper case': [`0x${ALICE.slice(2).toUpperCase()}`, 200],
  'percent-encoded': [`%30x${ALICE.slice(2)}`, 200],
  'a hash': [`0x${'ab'.repeat(32)}`, 'invalid_address'],
  'a name': ['vitalik.eth', 'invalid_address'],
  'space before': [`+${ALICE}`, 'invalid_address'],
  'space behind': [`${ALICE}%20`, 'invalid_address'],
  'line feed behind': [`${ALICE}%0A`, 'invalid_address'],
  'zero byte behind': [`${ALICE}%00`, 'invalid_address'],
  unicode: [encodeURIComponent(`0x${'٣'.repeat(40)}`), 'invalid_address'],
  'full-width digits': [encodeURIComponent(`0x${'０'.repeat(40)}`), 'invalid_address'],
  'SQL-like': [encodeURIComponent(`${ALICE}' OR 1=1 --`), 'invalid_address'],
  'a list': [`${ALICE},${ALICE}`, 'invalid_address'],
  'bad percent encoding': ['%zz', 'invalid_parameter'],
  'cut percent encoding': [`${ALICE}%2`, 'invalid_parameter'],
  'encoding of an invalid character': ['%ff%fe', 'invalid_parameter'],
  'given twice': [`${ALICE}&NAME=${ALICE}`, 'invalid_parameter'],
  'given twice, once encoded': [`${ALICE}&%4EAME=${ALICE}`, 'invalid_parameter'],
};

const SEARCH_TEXTS: Record<string, [value: string, Outcome]> = {
  empty: ['', 'invalid_parameter'],
  spaces: ['%20%20', 'invalid_parameter'],
  long: ['a'.repeat(101), 'invalid_parameter'],
  'of maximum length': ['a'.repeat(100), 200],
  'SQL-like': [encodeURIComponent("' OR 1=1 --"), 200],
  wildcard: [encodeURIComponent('%_*?'), 200],
  unicode: [encodeURIComponent('٣🐋'), 200],
  'bad percent encoding': ['%', 'invalid_parameter'],
  'given twice': ['a&NAME=a', 'invalid_parameter'],
};

/** Values of any hash, block or cursor parameter. None is valid. */
const TEXTS: Record<string, [value: string, Outcome]> = {
  empty: ['', 'invalid_parameter'],
  word: ['latest', 'invalid_parameter'],
  'an address': [ALICE, 'invalid_parameter'],
  'a hash one digit short': [`0x${'a'.repeat(63)}`, 'invalid_parameter'],
  'a hash one digit long': [`0x${'a'.repeat(65)}`, 'invalid_parameter'],
  'a hash that is not hex': [`0x${'g'.repeat(64)}`, 'invalid_parameter'],
  negative: ['-1', 'invalid_parameter'],
  float: ['1.', 'invalid_parameter'],
  'a day that does not exist': ['2026-02-30', 'invalid_parameter'],
  huge: ['9'.repeat(400), 'invalid_parameter'],
  'SQL-like': [encodeURIComponent('1; DROP TABLE blocks'), 'invalid_parameter'],
  'bad percent encoding': ['%', 'invalid_parameter'],
  'given twice': ['5&NAME=5', 'invalid_parameter'],
};

/** Values of any whole-number parameter. MIN, MAX and OVER stand for its bounds and the value above. */
const INTEGERS: Record<string, [value: string, Outcome]> = {
  least: ['MIN', 200],
  largest: ['MAX', 200],
  'with zeros before': ['007', 200],
  'above the largest': ['OVER', 'invalid_parameter'],
  empty: ['', 'invalid_parameter'],
  negative: ['-1', 'invalid_parameter'],
  huge: ['9'.repeat(400), 'invalid_parameter'],
  'beyond 2^53': ['9007199254740993', 'invalid_parameter'],
  float: ['1.5', 'invalid_parameter'],
  exponent: ['1e2', 'invalid_parameter'],
  hex: ['0x10', 'invalid_parameter'],
  'with a sign': ['%2B5', 'invalid_parameter'],
  'with a comma': ['1,000', 'invalid_parameter'],
  'not a number': ['NaN', 'invalid_parameter'],
  infinite: ['Infinity', 'invalid_parameter'],
  word: ['ten', 'invalid_parameter'],
  unicode: [encodeURIComponent('٣'), 'invalid_parameter'],
  'SQL-like': [encodeURIComponent('1; DROP TABLE wallets'), 'invalid_parameter'],
  'bad percent encoding': ['%', 'invalid_parameter'],
  'given twice': ['5&NAME=5', 'invalid_parameter'],
};

const WORDS: Record<string, [value: string, Outcome]> = {
  unknown: ['sideways', 'invalid_parameter'],
  'in upper case': ['IN', 'invalid_parameter'],
  empty: ['', 'invalid_parameter'],
  'of the prototype': ['__proto__', 'invalid_parameter'],
};

const FLAGS: Record<string, [value: string, Outcome]> = {
  true: ['true', 200],
  false: ['false', 200],
  one: ['1', 'invalid_parameter'],
  'in upper case': ['TRUE', 'invalid_parameter'],
  empty: ['', 'invalid_parameter'],
};

const COINS: Record<string, [value: string, Outcome]> = {
  zero: ['0', 200],
  decimal: ['0.000000000000000001', 200],
  'below a wei': ['0.0000000000000000001', 200],
  'thirty digits': ['9'.repeat(30), 200],
  'thirty-one digits': ['9'.repeat(31), 'invalid_parameter'],
  negative: ['-1', 'invalid_parameter'],
  empty: ['', 'invalid_parameter'],
  'point alone': ['.', 'invalid_parameter'],
  'no digits before the decimal point': ['.5', 'invalid_parameter'],
  'no digits after the decimal point': ['5.', 'invalid_parameter'],
  exponent: ['1e3', 'invalid_parameter'],
  infinite: ['Infinity', 'invalid_parameter'],
  comma: ['1,5', 'invalid_parameter'],
  hex: ['0x64', 'invalid_parameter'],
};

/** Bodies of the batch endpoint, sent as application/json. */
const BODIES: Record<string, [body: string, code: string, param?: string]> = {
  empty: ['', 'invalid_body'],
  'white space': [' \n ', 'invalid_body'],
  'not JSON': ['{addresses:[]}', 'invalid_body'],
  'cut JSON': [`{"addresses":["${ALICE}"`, 'invalid_body'],
  'a list': [`["${ALICE}"]`, 'invalid_body'],
  'a text': [`"${ALICE}"`, 'invalid_body'],
  null: ['null', 'invalid_body'],
  'a number': ['1e999', 'invalid_body'],
  'without addresses': ['{}', 'invalid_body', 'addresses'],
  'addresses null': ['{"addresses":null}', 'invalid_body', 'addresses'],
  'addresses a text': [`{"addresses":"${ALICE}"}`, 'invalid_body', 'addresses'],
  'addresses an object': [`{"addresses":{"0":"${ALICE}"}}`, 'invalid_body', 'addresses'],
  'no address': ['{"addresses":[]}', 'invalid_body', 'addresses'],
  '101 addresses': [JSON.stringify({ addresses: Array(101).fill(ALICE) }), 'batch_too_large', 'addresses'],
  'a bad address': [`{"addresses":["${ALICE}","0x12"]}`, 'invalid_address', 'addresses[1]'],
  'an address null': ['{"addresses":[null]}', 'invalid_address', 'addresses[0]'],
  'a number as address': ['{"addresses":[1]}', 'invalid_address', 'addresses[0]'],
  'a list as address': [`{"addresses":[["${ALICE}"]]}`, 'invalid_address', 'addresses[0]'],
  'lists 10,000 deep': ['['.repeat(10_000) + ']'.repeat(10_000), 'invalid_body'],
  'objects 10,000 deep': [`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'invalid_body', 'addresses'],
  'addresses 10,000 deep': [
    `{"addresses":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    'invalid_address',
    'addresses[0]',
  ],
  prototype: ['{"__proto__":{"addresses":[]}}', 'invalid_body', 'addresses'],
};

/** Whole requests as bytes, with the expected status line. The key's header is added. */
const REQUESTS: Record<string, [request: string, status: RegExp]> = {
  'a body of 1 MB': [post(`Content-Length: 1000000`, 'x'.repeat(100_000)), / 413 /],
  'a body without content type': [post('Content-Length: 2', '{}', ''), / 415 /],
  'a body that is a form': [
    post('Content-Length: 3', 'a=b', 'Content-Type: application/x-www-form-urlencoded'),
    / 415 /,
  ],
  'a body that is not UTF-8': [post('Content-Length: 20', '{"addresses":["\xff\xfe"]}'), / 400 /],
  'a chunked body': [post('Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'), / 400 /],
  'a chunked body with a bad length': [post('Transfer-Encoding: chunked', 'zz\r\n{}\r\n'), /^$| 400 /],
  'a negative length': [post('Content-Length: -1', '{}'), /^$| 400 /],
  'an unknown path': [get('/api/wallets'), / 404 /],
  'a path with dots': [get('/api/../api/wallet_summary'), / 404 /],
  'an encoded slash': [get('/api%2Fwallet_summary'), / 404 /],
  'a path of 3,000 characters': [get(`/api/${'a'.repeat(3_000)}`), / 404 /],
  'a request line of 5,000 characters': [get(`/api/wallet_summary?address=${'a'.repeat(5_000)}`), / 400 /],
  'a request line of 20,000 characters': [get(`/api/wallet_summary?address=${'a'.repeat(20_000)}`), / 431 /],
  'a method that the path does not support': [
    `DELETE /api/wallet_summary HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n`,
    / 405 /,
  ],
  'an unknown method': [`BREW /api/wallet_summary HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n`, / 40[05] /],
  'bytes that are not HTTP': ['\x16\x03\x01\x02\x00\x01\x00', /^$| 400 | 505 /],
};

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nKEY\r\n\r\n`;
}

function post(length: string, body: string, type = 'Content-Type: application/json'): string {
  const lines = [`POST ${BATCH} HTTP/1.1`, 'Host: x', 'KEY', length, ...(type === '' ? [] : [type])];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A valid request per endpoint, by query. */
function goodQuery(path: string): Map<string, string> {
  const required = document.paths[path]?.get?.parameters.filter((parameter) => parameter.required) ?? [];
  return new Map(required.map(({ name }) => [name, GOOD_VALUES[name] ?? ALICE]));
}

/** Of required parameters that are not addresses. */
const GOOD_VALUES: Record<string, string> = {
  block: '1',
  q: 'coin',
  selectors: '0xa9059cbb',
  tx: txHash('a'),
};

/** Values of any list of addresses. */
const ADDRESS_LISTS: typeof ADDRESSES = {
  ...ADDRESSES,
  'a list': [`${ALICE},${ALICE}`, 200],
  'a list with a comma behind': [`${ALICE},`, 'invalid_address'],
  'a list of 101': [Array(101).fill(ALICE).join(), 'invalid_address'],
};

/** In the pattern of an address, of a list of them, and of an asset, which is an address or `native`. */
const ONE_ADDRESS = '0x[0-9a-fA-F]{40}';

function rowsFor(schema: Record<string, unknown>): Record<string, [value: string | null, Outcome]> {
  const { pattern } = schema;
  if (typeof pattern === 'string') {
    if (!pattern.includes(ONE_ADDRESS)) return TEXTS;
    return pattern.includes(`,${ONE_ADDRESS}`) ? ADDRESS_LISTS : ADDRESSES;
  }
  if (schema.enum !== undefined) return WORDS;
  if (schema.type === 'boolean') return FLAGS;
  if (schema.type === 'string') return SEARCH_TEXTS;
  return schema.type === 'number' ? COINS : INTEGERS;
}

suite('bad input', () => {
  const owner = suiteCleanup();
  let serving: Serving;

  before(async () => {
    serving = await serve(owner);
    // Alice is a token as well, so that every endpoint knows of her.
    serving.index.append([
      { a: [{ from: 'bob', to: 'alice' }], b: [{ kind: 'erc20', token: 'alice', from: 'bob', to: 'alice' }] },
    ]);
  });

  for (const { path, method } of ENDPOINTS) {
    if (method !== 'GET') continue;
    for (const { name, schema, required } of document.paths[path]?.get?.parameters ?? []) {
      test(`${path} ${name}`, async () => {
        for (const [what, [value, outcome]] of Object.entries(rowsFor(schema))) {
          if (value === null && !required) continue;
          const query = goodQuery(path);
          query.delete(name);
          const pairs = [...query].map(([other, good]) => `${other}=${good}`);
          if (value !== null) pairs.push(`${name}=${spelled(value, name, schema)}`);
          const response = await serving.fetch(`${path}?${pairs.join('&')}`);
          const label = `${path} with ${name} ${what}`;
          if (outcome === 200) assert.equal(response.status, 200, label);
          else await assertRefused(response, outcome, /encoding/.test(what) ? undefined : name, label);
        }
      });
    }
  }

  test('unknown parameters are ignored', async () => {
    for (const { path, method } of ENDPOINTS) {
      if (method !== 'GET') continue;
      const good = [...goodQuery(path)].map(([name, value]) => `${name}=${value}`);
      const odd = [
        'unknown=1',
        'unknown=2',
        '=',
        '&',
        'a=b=c',
        '__proto__=1',
        'constructor=1',
        'ADDRESS=1',
        '%F0%9F%90%8B=1',
        'utm=100%',
        '%zz=1',
      ];
      const response = await serving.fetch(`${path}?${[...good, ...odd].join('&')}`);
      assert.equal(response.status, 200, path);
    }
  });

  test("a depth above the key's tier gets 403, above the maximum 400", async () => {
    const { key } = serving.access.keys.create({ name: 'small', tier: 'free' });
    const ask = (depth: number) =>
      serving.fetch(`/api/funding_chain?address=${ALICE}&depth=${depth}`, { headers: { 'X-API-Key': key } });
    assert.equal((await ask(5)).status, 200);
    const response = await ask(6);
    assert.equal(response.status, 403);
    const { error } = await errorOf(response);
    assert.deepEqual([error.code, error.param], ['tier_limit', 'depth']);
    assert.equal((await ask(11)).status, 400);
  });

  for (const [what, [body, code, param]] of Object.entries(BODIES)) {
    test(`${BATCH} with a body that is ${what}`, async () => {
      await assertRefused(await serving.post(BATCH, body), code, param, what);
    });
  }

  for (const [what, [request, status]] of Object.entries(REQUESTS)) {
    test(`a request with ${what}`, async () => {
      const answer = await exchange(serving, request.replace('KEY', `X-API-Key: ${serving.key}`));
      assert.match(answer.split('\r\n')[0] ?? '', status);
      assertNoLeak(answer);
    });
  }

  test('an unfinished body does not affect other clients', async () => {
    for (const request of [
      post('Content-Length: 500', '{"addresses":['),
      post('Transfer-Encoding: chunked', '10\r\n{"addr'),
    ]) {
      const socket = connect(serving.server.port, '127.0.0.1');
      socket.write(request.replace('KEY', `X-API-Key: ${serving.key}`));
      await sleep(20);
      socket.destroy();
    }
    assert.equal((await serving.fetch(`/api/wallet_summary?address=${ALICE}`)).status, 200);
  });

  test('no bad input is logged as an error, and valid requests are still answered', async () => {
    assert.deepEqual(
      serving.logs.filter((line) => /"level":"(error|fatal)"/.test(line)),
      [],
    );
    assert.equal((await serving.fetch(`/api/wallet_summary?address=${ALICE}`)).status, 200);
  });
});

/** Fills the names and bounds of a parameter into a table value. */
function spelled(value: string, name: string, { minimum, maximum }: Record<string, unknown>): string {
  const most = Number(maximum ?? Number.MAX_SAFE_INTEGER);
  return value
    .replace('NAME', name)
    .replace('%4EAME', `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`)
    .replace('MIN', String(minimum))
    .replace('MAX', String(most))
    .replace('OVER', `${BigInt(most) + 1n}`);
}

async function assertRefused(
  response: Response,
  code: string,
  param: string | undefined,
  label: string,
): Promise<void> {
  assert.equal(response.status, 400, label);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const text = await response.clone().text();
  assertNoLeak(text);
  const { error } = await errorOf(response);
  assert.equal(error.code, code, label);
  assert.equal(error.param, param, label);
  if (param !== undefined) assert.ok(error.message.startsWith(param), `${label}: ${error.message}`);
  assert.ok(error.message.length < 200, `${label}: a message of ${error.message.length} characters`);
}

/** No internals: no paths, stack traces, SQL or module names. */
function assertNoLeak(text: string): void {
  assert.doesNotMatch(text, /\.ts\b|node_modules|at \w+ \(|\bSELECT\b|sqlite|zod|\/src\//i);
}

/** Writes raw bytes and returns everything received until the server closes or has answered once. */
function exchange({ server }: Serving, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (/\r\n\r\n/.test(text)) socket.end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}
