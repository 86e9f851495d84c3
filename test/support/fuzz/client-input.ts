/** Client input ends in an answer or a refusal that says what is wrong, within a time limit. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EndpointSource } from '../../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { createCall } from '../../../src/gateway/call.ts';
import { readLogsQuery } from '../../../src/gateway/logs/logs-query.ts';
import { type IncomingCall, MAX_BATCH, readRequest } from '../../../src/gateway/request.ts';
import { nodeRequest } from '../../../src/gateway/response-tail.ts';
import { RequestError } from '../../../src/lib/errors.ts';
import type { Head } from '../../../src/query/snapshot.ts';
import { OverBudgetError, unitBudget } from '../../../src/query/work-budget.ts';
import { parameterNames, parseQuery } from '../../../src/server/http/request.ts';
import { parseChainLogFilter, parseLogFilter } from '../../../src/streams/node/log-filter.ts';
import { parseSignalFilter, parseWalletFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { cpuMs } from '../cpu-time.ts';
import { anyJson, corrupt, hexLike } from './arbitraries.ts';
import { type Property, property } from './property.ts';

/** Longest processor time for one input, milliseconds. */
const MAX_MS = 1_000;

function onlyRefusals(run: () => void): void {
  const startedAt = cpuMs();
  try {
    run();
  } catch (error) {
    if (!(error instanceof RequestError || error instanceof OverBudgetError)) throw error;
  }
  const ms = cpuMs() - startedAt;
  assert.ok(ms < MAX_MS, `took ${ms.toFixed(0)} ms`);
}

const goodCall = {
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getLogs',
  params: [{ address: `0x${'a'.repeat(40)}`, fromBlock: '0x1' }],
};

const bodies = fc.oneof(
  fc.json({ maxDepth: 5 }),
  corrupt(goodCall).map((call) => JSON.stringify(call) ?? ''),
  corrupt([goodCall, goodCall]).map((calls) => JSON.stringify(calls) ?? ''),
  fc.tuple(corrupt(goodCall), fc.nat(200), fc.string({ maxLength: 3 })).map(([call, at, junk]) => {
    const text = JSON.stringify(call) ?? '';
    return text.slice(0, at) + junk + text.slice(at);
  }),
  fc.nat(20_000).map((depth) => '['.repeat(depth)),
  fc.nat(5_000).map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`),
  fc.string({ unit: 'binary' }),
);

/** Below this depth the reader may refuse what JSON.parse accepts. */
const SHALLOW = 32;

const requests = property('JSON-RPC bodies', bodies, (body) => {
  const text = Buffer.from(body).toString('latin1');
  const request = readRequest(text);
  const parsed = parse(text);
  if (parsed === undefined) return assert.equal(request.kind, 'refused', 'what is no JSON is refused');
  if (depthOf(text) > SHALLOW) return;
  if (!Array.isArray(parsed)) {
    assert.equal(request.kind, 'single');
    if (request.kind === 'single') checkCall(request.call, parsed);
    return;
  }
  if (parsed.length === 0 || parsed.length > MAX_BATCH) return assert.equal(request.kind, 'refused');
  assert.equal(request.kind, 'batch');
  if (request.kind === 'batch') for (const [i, call] of request.calls.entries()) checkCall(call, parsed[i]);
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

/** An accepted call equals the result of JSON.parse; a refused one is malformed. */
function checkCall(call: IncomingCall | { id: string | null; error: object }, parsed: unknown): void {
  const { jsonrpc, id, method, params } = (
    typeof parsed === 'object' && parsed !== null ? parsed : {}
  ) as Record<string, unknown>;
  const isObject = typeof params === 'object';
  const isId = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  const wellFormed =
    !Array.isArray(parsed) &&
    isId &&
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (params === undefined || isObject);
  assert.equal('method' in call, wellFormed);
  if (!('method' in call)) return;
  assert.equal(call.method, method);
  assert.deepEqual(call.args, params ?? []);
  assert.deepEqual(call.id === null ? undefined : JSON.parse(call.id), id);
}

const address = `0x${'a'.repeat(40)}`;
const filterLike = fc.oneof(
  anyJson,
  corrupt(
    { address: [address], topics: [null, [`0x${'1'.repeat(64)}`]], fromBlock: '0x1', toBlock: 'latest' },
    fc.oneof(anyJson, hexLike),
  ),
  corrupt({ address, direction: 'in', includeNative: true, includeTokens: false, fromBlock: 7 }),
  corrupt([{ wallets: [address], events: ['wallet_funded'], tokens: [], fromBlock: '0x5' }]),
);

const filters = property('filters of subscriptions and logs', filterLike, (value) => {
  onlyRefusals(() => parseLogFilter(value));
  onlyRefusals(() => parseChainLogFilter(value));
  onlyRefusals(() => parseWalletFilter(value));
  onlyRefusals(() => parseSignalFilter(value));
  onlyRefusals(() => readLogsQuery([value]));
  onlyRefusals(() => readLogsQuery(value));
});

/** JSON with characters of all planes, and halves of them. */
const anyText = fc.array(fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }), { maxLength: 3 });

const ownCalls = property('what clients gave, in calls of the gateway', anyText, (given) => {
  const { method, params } = createCall('eth_getLogs', given);
  const sent = Buffer.from(nodeRequest(method, params), 'latin1').toString('latin1');
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: given };
  assert.deepEqual(JSON.parse(sent), JSON.parse(JSON.stringify(call)), 'the node reads what was meant');
});

const PARAMETERS = [
  'address',
  'token',
  'limit',
  'cursor',
  'blocks',
  'depth',
  'direction',
  'before_block',
  'after_block',
  'min_mon',
  'include_internal',
  'include_zero',
  'block',
  'tx',
  'q',
  'native_balance',
  'type',
  'counterparty',
  'since',
  'until',
  'after_id',
];

/** The REST endpoints over an index; `addresses` are some that it contains. */
export function restInputs(source: EndpointSource, head: Head, addresses: readonly string[]): Property {
  const endpoints = ENDPOINTS.map((endpoint) => ({
    endpoint,
    answer: endpoint.prepare(source),
  }));
  const known = parameterNames(PARAMETERS);
  const word = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...addresses) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '0',
        '1',
        '2',
        '10',
        '200',
        '201',
        '-1',
        '1.5',
        '1e3',
        '9007199254740993',
        'in',
        'both',
        'true',
        '',
      ),
    },
    { weight: 1, arbitrary: hexLike },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  );
  const query = fc
    .array(fc.tuple(fc.constantFrom(...PARAMETERS), word), { maxLength: 5 })
    .map((pairs) =>
      pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
    );
  const body = fc.oneof(
    anyJson,
    fc.record({ addresses: fc.oneof(anyJson, fc.array(word, { maxLength: 120 })) }),
  );
  const input = fc.record({
    at: fc.nat(endpoints.length - 1),
    query: fc.oneof(query, query, fc.string({ maxLength: 60 })),
    body,
  });
  return property('queries and bodies of the REST API', input, ({ at, query, body }) => {
    const { endpoint, answer } = endpoints[at]!;
    onlyRefusals(() => {
      const values = endpoint.method === 'GET' ? parseQuery(query, known) : body;
      const answered = answer(values, {
        head,
        chainDepth: 10,
        budget: unitBudget(1_000_000),
        unexamined: [],
      });
      assert.equal(typeof JSON.stringify(answered), 'string');
    });
  });
}

export const CLIENT_INPUT: readonly Property[] = [requests, filters, ownCalls];
