/** The meaning of errors by their text, whatever their code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/lib/errors.ts';
import { anotherNode } from '../../src/lib/setting-name.ts';
import {
  isBusy,
  isExecutionFailure,
  isRateLimited,
  isReason,
  isRefusedTimeout,
  isTooLarge,
  isUnknownMethod,
  wordsOf,
} from '../../src/node/node-errors.ts';

/** Codes used by nodes, some of which mean something else elsewhere, and some that no standard defines. */
const CODES = [-32700, -32600, -32601, -32602, -32603, -32000, -32003, -32005, -32015, 3, 4, 0, 12345];

type Meaning = 'execution' | 'rate' | 'busy' | 'too large' | 'unknown method' | 'none';

function meaningOf(error: UpstreamError): Meaning {
  if (isExecutionFailure(error)) return 'execution';
  if (isRateLimited(error)) return 'rate';
  if (isBusy(error)) return 'busy';
  if (isTooLarge(error)) return 'too large';
  return isUnknownMethod(error) ? 'unknown method' : 'none';
}

const errorOf = (code: number, message: string) =>
  new UpstreamError('rpc', `debug_traceBlockByNumber: ${message} (${code})`, code);

const TEXTS: readonly [meaning: Meaning, message: string][] = [
  ['execution', 'execution reverted: too many requests'],
  ['execution', 'EVM error: StackUnderflow'],
  ['execution', 'VM execution error.'],
  ['rate', 'Internal error: concurrent requests limit'],
  ['rate', "You've exceeded the RPS limit available on the current plan"],
  ['rate', 'Your app has exceeded its compute units per second capacity'],
  ['rate', 'daily quota exceeded'],
  ['rate', 'Too many request, try again later'],
  ['busy', 'overloaded, try again later'],
  ['busy', 'request timed out'],
  ['busy', 'WebSocket subscription limit reached'],
];

for (const [meaning, message] of TEXTS) {
  test(`"${message}" means ${meaning}, whatever the code`, () => {
    for (const code of CODES) {
      if (meaning === 'busy' && code === -32005) continue; // a rate limit: also worth waiting for
      assert.equal(meaningOf(errorOf(code, message)), meaning, `code ${code}`);
    }
  });
}

test('a refused option of the tracer is no timeout', () => {
  for (const text of [
    "Invalid parameter 'timeout' for TracerConfigWrapper",
    'Invalid parameter 1: unknown field `timeout`, expected `tracer` or `tracerConfig`',
    '"timeout" is not allowed',
  ])
    assert.ok(isRefusedTimeout(errorOf(-32602, text)), text);
  for (const text of ['execution timeout', 'request timeout', 'timeout', 'invalid opcode; execution timeout'])
    assert.ok(!isRefusedTimeout(errorOf(-32000, text)), text);
});

test('an answer over the size limit is recognised by its text', () => {
  for (const message of ['response exceeds size limit', 'response too large', 'Response is too big']) {
    for (const code of CODES.filter((code) => code !== 3))
      assert.equal(meaningOf(errorOf(code, message)), 'too large', `${message} (${code})`);
  }
});

test('a method that the node does not offer is recognised by its text', () => {
  for (const message of ['Method not found', 'Method not supported', 'Unsupported method: debug_x']) {
    for (const code of CODES.filter((code) => code !== 3 && code !== -32005))
      assert.equal(meaningOf(errorOf(code, message)), 'unknown method', `${message} (${code})`);
  }
});

test('missing data is not mistaken for a missing method', () => {
  for (const message of [
    'Block requested not found. Request might be querying historical state',
    'block #1 not found',
    'required historical state unavailable (reexec=128)',
    'Internal error: traces not found',
    'header for block 0x12 is missing',
  ]) {
    for (const code of CODES)
      assert.equal(isUnknownMethod(errorOf(code, message)), false, `${message} (${code})`);
  }
});

test('codes defined by JSON-RPC or by convention count where the text is inconclusive', () => {
  assert.equal(meaningOf(errorOf(-32601, 'no')), 'unknown method');
  assert.equal(meaningOf(errorOf(-32005, 'limit exceeded')), 'rate');
  assert.equal(meaningOf(errorOf(429, 'compute units exceeded')), 'rate');
  assert.equal(meaningOf(new UpstreamError('rpc', 'method not found')), 'unknown method', 'without a code');
  assert.equal(meaningOf(errorOf(3, 'failed')), 'execution');
});

test('a limit other than the rate causes no wait', () => {
  for (const message of [
    'Batched requests are not supported by this server',
    'query returned more than 10000 results',
    'Requested range exceeds maximum RPC range limit',
    'Exceeds per-request RPC gas limit',
  ])
    assert.equal(isRateLimited(errorOf(-32005, message)), false, message);
});

const REASONS = [
  'tracing failed: nonce too high: address 0xAff2C936E5E5Fd1027F581b3A8189C681F804551, tx: 1050 state: 1041',
  'historical state not available in path scheme yet',
  'missing trie node 3f0a (path 0c0f) state 0xab is not available, not found',
  'No state available for block 17 (0xab)',
  'Pruned history unavailable',
  'Block history expired',
  'the block range is before the earliest available block 15537394',
  'bodies are not available: the node prunes history',
  'failed to load state at height 7; version does not exist (latest height: 90)',
  'transaction not found',
  'block not found',
  'response exceeds size limit',
];
const NO_REASONS = [
  'internal error',
  'Internal server error',
  'tracing failed',
  'unknown error while handling the request',
  'execution timeout',
  'context deadline exceeded',
  'context canceled',
  'overloaded, try again later',
  'node is busy',
  'rate limit exceeded',
  'dial tcp 10.0.0.1:8545: connect: connection refused',
  'unexpected EOF',
  'bad gateway',
  'Service Unavailable',
  'node is syncing',
  '',
];

test('a reason says what is wrong with a block, not that something failed or passes', () => {
  const isTold = (message: string) => isReason(new UpstreamError('rpc', message, -32_000));
  assert.deepEqual(
    REASONS.filter((message) => !isTold(message)),
    [],
  );
  assert.deepEqual(NO_REASONS.filter(isTold), []);
  for (const reason of ['timeout', 'connection', 'http', 'malformed'] as const)
    assert.equal(isReason(new UpstreamError(reason, 'nonce too high')), false, reason);
});

test('the words of a reason are the same for every block', () => {
  const told = (block: number, hash: string, path: string) =>
    wordsOf(
      `debug_traceBlockByHash: missing trie node ${hash} (path ${path}) of block ${block} <nil> (-32000)`,
    );
  assert.equal(told(1_050, 'ab12cd', '0c0f'), 'missing trie node … (path …) of block … <nil>');
  assert.equal(told(7, '99ffee00112233', '00'), told(1_050, 'ab12cd', '0c0f'));
  assert.equal(wordsOf('transaction 0xabcdef not found'), 'transaction … not found');
  const short = 'eth_getBlockByNumber: pruned (-32000)';
  assert.equal(wordsOf(`block 7: ${short}; ${anotherNode()}`), wordsOf(short), 'without the advice');
});
