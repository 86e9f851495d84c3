/** What the published schemas of filters accept, the service accepts, and the reverse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { asyncApiDocument } from '../../src/api/openapi/asyncapi.ts';
import { RequestError } from '../../src/lib/errors.ts';
import {
  type FILTER_TYPES,
  type FilterMembers,
  SIGNAL_EVENTS,
  SIGNAL_FILTER,
  WALLET_FILTER,
} from '../../src/model/stream-filters.ts';
import { parseChainLogFilter, parseLogFilter } from '../../src/streams/node/log-filter.ts';
import { onlyFilter } from '../../src/streams/subscribe-errors.ts';
import { parseSignalFilter, parseWalletFilter } from '../../src/streams/transfers/parse-filter.ts';

const RUNS = 400;

const ADDRESS = `0x${'a'.repeat(40)}`;
const HASH = `0x${'b'.repeat(64)}`;
const EVERY_LIST = () => new Set([ADDRESS.slice(2)]);

const document = asyncApiDocument('1.0.0');
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'document', components: document.components });

/** Whether the document allows a message. */
const validators = new Map(
  Object.keys(document.components.messages).map((name) => [
    name,
    ajv.compile({ $ref: `document#/components/messages/${name}/payload` }),
  ]),
);

function isAccepted(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    assert.ok(error instanceof RequestError && error.code === 'invalid_params', String(error));
    return false;
  }
}

interface Face {
  message: string;
  method: string;
  parse: (params: unknown) => unknown;
}

const topic = (message: string, name: string, parse: (filter: unknown) => unknown): Face => ({
  message,
  method: 'eth_subscribe',
  parse: (params) => {
    assert.ok(Array.isArray(params) && params[0] === name);
    return parse(onlyFilter(params.slice(1)));
  },
});

const WALLETS = topic('subscribeWalletTransfers', 'wallet_transfers', parseWalletFilter);
const SIGNALS: Face = {
  message: 'subscribeSignals',
  method: 'atlas_subscribe',
  parse: (params) => parseSignalFilter(params, EVERY_LIST),
};
const LOGS = topic('subscribeLogs', 'logs', parseLogFilter);
const CHAIN_LOGS = topic('subscribeChainLogs', 'chainLogs', parseChainLogFilter);

/** Returns whether the service accepts the parameters, which it must if and only if the document allows them. */
function assertSame({ message, method, parse }: Face, params: unknown): boolean {
  const request = { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) };
  const accepted = isAccepted(() => parse(params));
  assert.equal(accepted, validators.get(message)?.(request), JSON.stringify(request).slice(0, 400));
  return accepted;
}

/** The boundary cases of each type of member, right and wrong. */
const VALUES: Record<keyof typeof FILTER_TYPES, readonly unknown[]> = {
  address: [ADDRESS, ADDRESS.toUpperCase().replace('X', 'x'), '0x12', ADDRESS.slice(2), ''],
  addresses: [
    [],
    [ADDRESS],
    [ADDRESS, ADDRESS],
    [ADDRESS, 'x'],
    [null],
    Array(1_000).fill(ADDRESS),
    Array(1_001).fill(ADDRESS),
  ],
  wallets: ['list:x', 'list:', 'x', [], [ADDRESS], [5]],
  events: [[], ['whale_transfer'], [...SIGNAL_EVENTS], ['wallet_funded', 'nothing'], 'wallet_funded'],
  direction: ['in', 'out', 'both', 'up'],
  flag: [true, false, 'true', 1],
  coins: [
    0,
    1,
    1.5,
    1e-7,
    1e21,
    1e300,
    5e-324,
    -1,
    '1.5',
    '1.',
    '.5',
    '1e5',
    '9'.repeat(30),
    '9'.repeat(31),
    '-1',
  ],
  amounts: [
    {},
    { [ADDRESS]: '1' },
    { [ADDRESS]: '9'.repeat(78) },
    { [ADDRESS]: '9'.repeat(79) },
    { [ADDRESS]: 1 },
    { x: '1' },
    JSON.parse('{"__proto__":"1"}'),
  ],
  kinds: [[], ['buy'], ['buy', 'sell', 'swap', 'mixed'], ['Buy'], [''], 'buy', {}],
  quotes: [
    {},
    { native: '1' },
    { [ADDRESS]: '1' },
    { [ADDRESS.toUpperCase().replace('X', 'x')]: '1', native: '0' },
    { Native: '1' },
    { native: '1.5' },
    { native: 1 },
    { native: '9'.repeat(79) },
    { '': '1' },
    [],
    JSON.parse('{"__proto__":"1"}'),
  ],
  block: [
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    '0x0',
    '0x1b4',
    '0x01',
    '0x',
    `0x${'f'.repeat(13)}`,
    `0x${'f'.repeat(14)}`,
    'earliest',
    'latest',
    '5',
  ],
  lastSeen: [
    { blockNumber: 1, blockHash: HASH },
    { blockNumber: '0x01', blockHash: HASH },
    { blockNumber: 1 },
    { blockNumber: 1, blockHash: '0x12' },
    { blockNumber: null, blockHash: HASH },
    { blockNumber: 1, blockHash: HASH, rewrites: '2-100-00c0ffee' },
    { blockNumber: 1, blockHash: HASH, rewrites: null },
    { blockNumber: 1, blockHash: HASH, rewrites: '2' },
    { blockNumber: 1, blockHash: HASH, x: 1 },
  ],
};

const ANY = [null, {}, [], '', 'x', 0, true];

function filterOf(members: FilterMembers): fc.Arbitrary<Record<string, unknown>> {
  const values = Object.fromEntries(
    Object.entries(members).map(([name, { type }]) => [
      name,
      fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...VALUES[type]) }, fc.constantFrom(...ANY)),
    ]),
  );
  return fc.record({ ...values, unknownMember: fc.constantFrom(1, null) }, { requiredKeys: [] });
}

test('each case of each member is published and accepted, or neither', () => {
  const base = { address: ADDRESS };
  for (const [name, { type }] of Object.entries(WALLET_FILTER)) {
    for (const value of [...VALUES[type], ...ANY])
      assertSame(WALLETS, ['wallet_transfers', { ...base, [name]: value }]);
  }
  for (const [name, { type }] of Object.entries(SIGNAL_FILTER)) {
    for (const value of [...VALUES[type], ...ANY]) assertSame(SIGNALS, { [name]: value });
  }
});

test('filters of wallet_transfers and signals are published and accepted, or neither', () => {
  const accepted = { yes: 0, no: 0 };
  const count = (isYes: boolean): void => {
    accepted[isYes ? 'yes' : 'no']++;
  };
  const one = fc.oneof(
    filterOf(WALLET_FILTER).map((filter) => ['wallet_transfers', filter]),
    fc.constantFrom(['wallet_transfers'], ['wallet_transfers', null], ['wallet_transfers', {}, {}]),
  );
  fc.assert(
    fc.property(one, (params) => count(assertSame(WALLETS, params))),
    { numRuns: RUNS },
  );
  const filter = filterOf(SIGNAL_FILTER);
  const signals = fc.oneof(
    filter,
    filter.map((one) => [one]),
    fc.constantFrom(undefined, null, [], [null], [{}], [{}, {}]),
  );
  fc.assert(
    fc.property(signals, (params) => count(assertSame(SIGNALS, params))),
    { numRuns: RUNS },
  );
  assert.ok(accepted.yes > RUNS / 50 && accepted.no > RUNS / 50, JSON.stringify(accepted));
});

test('filters of logs are published and accepted, or neither', () => {
  const choice = (value: string) =>
    fc.constantFrom(
      value,
      value.toUpperCase().replace('X', 'x'),
      [],
      [value],
      [value, null],
      null,
      'x',
      5,
      Array(1_000).fill(value),
      Array(1_001).fill(value),
    );
  // One bound at a time: the order of two cannot be published.
  const bound = fc.constantFrom(
    '0x1',
    '0x01',
    '0x',
    `0x${'f'.repeat(14)}`,
    'latest',
    'earliest',
    'pending',
    'safe',
    5,
    null,
  );
  const members = {
    address: choice(ADDRESS),
    topics: fc.oneof(fc.constantFrom(null, {}, []), fc.array(choice(HASH), { maxLength: 5 })),
    blockHash: fc.constantFrom(null, HASH),
    commitStates: fc.constantFrom(true, false, null, 'yes'),
    x: fc.constant(1),
  };
  const logFilter = fc.oneof(
    fc.record({ ...members, fromBlock: bound }, { requiredKeys: [] }),
    fc.record({ ...members, toBlock: bound }, { requiredKeys: [] }),
  );
  for (const [face, name] of [
    [LOGS, 'logs'],
    [CHAIN_LOGS, 'chainLogs'],
  ] as const) {
    const params = fc.oneof(
      logFilter.map((filter) => [name, filter]),
      fc.constantFrom([name], [name, null], [name, {}, {}], [name, 5]),
    );
    fc.assert(
      fc.property(params, (given) => assert.ok(typeof assertSame(face, given) === 'boolean')),
      { numRuns: RUNS },
    );
  }
});

test('minMon is a number of coins as published, and a fraction of a wei counts as a whole one', () => {
  const wei = (minMon: unknown) => parseSignalFilter({ minMon }).minMon;
  assert.equal(wei(1e-7), 10n ** 11n);
  assert.equal(wei(1.5e-7), 15n * 10n ** 10n);
  assert.equal(wei(1e21), 10n ** 39n);
  assert.equal(wei(1.25e21), 125n * 10n ** 37n);
  assert.equal(wei('0.0000000000000000001'), 1n);
  assert.equal(wei(1e-19), 1n);
  assert.equal(wei('1.0000000000000000010'), 10n ** 18n + 1n);
  assert.equal(wei('1.0000000000000000000'), 10n ** 18n);
  assert.equal(wei(0), 0n);
  assert.equal(wei(null), null);
});

test('null means absent in every member', () => {
  const nulls = (members: object) => Object.fromEntries(Object.keys(members).map((name) => [name, null]));
  assert.deepEqual(parseSignalFilter(nulls(SIGNAL_FILTER)), parseSignalFilter({}));
  assert.deepEqual(
    parseWalletFilter({ ...nulls(WALLET_FILTER), addresses: [ADDRESS] }),
    parseWalletFilter({ address: ADDRESS }),
  );
});

test('a refusal names the member and the item', () => {
  const refused: [filter: object, message: string][] = [
    [{ wallets: [ADDRESS, 'x'] }, 'wallets[1] must be an address: 0x and 40 hex digits'],
    [{ tokens: 5 }, 'tokens must be an array'],
    [{ events: ['x'] }, `events[0] must be among ${SIGNAL_EVENTS.join(', ')}`],
    [{ minMon: '1e5' }, 'minMon must be a decimal number of coins, such as "1.5"'],
    [
      { minAmount: { [ADDRESS]: 5 } },
      `minAmount of ${ADDRESS} must be an integer in base units, as a string`,
    ],
    [{ minAmount: { x: '5' } }, 'a token of minAmount must be an address: 0x and 40 hex digits'],
    [{ excludeMints: 1 }, 'excludeMints must be true or false'],
    [{ fromBlock: '0x01' }, 'fromBlock must be a block number, or a quantity such as "0x1b4"'],
    [
      { lastSeen: { blockNumber: -5, blockHash: HASH } },
      'lastSeen.blockNumber must be a block number, or a quantity such as "0x1b4"',
    ],
    [{ lastSeen: 5 }, 'lastSeen must be {"blockNumber": number, "blockHash": 0x and 64 hex digits}'],
    [{ wallets: Array(1_001).fill(ADDRESS) }, 'wallets has more than 1000 addresses'],
    [{ events: ['whale_transfer'] }, 'whale_transfer needs minMon, the smallest amount of a whale'],
  ];
  for (const [filter, message] of refused) assert.throws(() => parseSignalFilter(filter), { message });
  assert.throws(() => parseWalletFilter({}), { message: 'address must be an address: 0x and 40 hex digits' });
  assert.throws(() => parseWalletFilter({ address: ADDRESS, addresses: [ADDRESS] }), {
    message: 'pass either address or addresses, not both',
  });
  assert.throws(() => parseWalletFilter(5), {
    message: 'wallet_transfers needs an object with the address of the wallet',
  });
});
