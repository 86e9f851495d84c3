import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsTraces } from '../../src/decode/block.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { secondsToIso } from '../../src/lib/time.ts';
import { A, B, BLOCK_HASH, blockOf, C, decode, PLAIN_RULES, rowsOf, TOKEN, TX_HASH } from './plain.ts';

const brief = (row: { kind: string; from: string; to: string; amount: bigint }) => [
  row.kind,
  row.from,
  row.to,
  row.amount,
];
const internalOf = (root: unknown) => rowsOf(decode(blockOf({ to: B }, root))).map(brief);

test('a transaction with value pays its receiver or the created contract, and a failed one pays neither', () => {
  assert.deepEqual(rowsOf(decode(blockOf({ value: '0x10' }))).map(brief), [['native_direct', A, B, 16n]]);
  assert.deepEqual(rowsOf(decode(blockOf({ to: null, contractAddress: C, value: '0x1' }))).map(brief), [
    ['native_direct', A, C, 1n],
  ]);
  assert.deepEqual(rowsOf(decode(blockOf({ value: '0x10', status: '0x0' }))), []);
  assert.deepEqual(rowsOf(decode(blockOf({ value: '0x0' }))), []);
});

test('CALL, CREATE, CREATE2, SELFDESTRUCT transfer value; CALLCODE, DELEGATECALL, STATICCALL, roots do not', () => {
  const frame = (type: string, value: string) => ({ type, from: B, to: C, value });
  const types = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT', 'CALLCODE', 'DELEGATECALL'];
  const calls = [
    ...types.map((type, i) => frame(type, `0x${i + 1}`)),
    ...types.map((type) => frame(type, '0x0')),
    { type: 'STATICCALL', from: B, to: C },
  ];
  assert.deepEqual(internalOf({ type: 'CALL', from: A, to: B, value: '0x63', calls }), [
    ['native_internal', B, C, 1n],
    ['native_internal', B, C, 2n],
    ['native_internal', B, C, 3n],
    ['native_internal', B, C, 4n],
  ]);
});

test('a SELFDESTRUCT to itself moves nothing, a CALL to itself is a transfer', () => {
  const calls = [
    { type: 'SELFDESTRUCT', from: B, to: B, value: '0x5' },
    { type: 'CALL', from: B, to: B, value: '0x6' },
  ];
  assert.deepEqual(internalOf({ type: 'CALL', from: A, to: B, value: '0x0', calls }), [
    ['native_internal', B, B, 6n],
  ]);
});

test('a SELFDESTRUCT to itself moves nothing where the node names the last payment instead of the account', () => {
  const paid = (type: string, to: string, payer = B, payee = C) => ({
    type,
    from: B,
    to,
    value: '0x5',
    calls: [{ type: 'SELFDESTRUCT', from: payer, to: payee, value: '0x5' }],
  });
  // A library's SELFDESTRUCT destroys its caller, B, which is named correctly; C is an unrelated account here.
  const calls = [paid('CALL', C), paid('DELEGATECALL', C), paid('CREATE', C), paid('CALLCODE', C, A, TOKEN)];
  const moves = [
    ['native_internal', B, C, 5n],
    ['native_internal', B, C, 5n],
    ['native_internal', B, C, 5n],
  ];
  assert.deepEqual(internalOf({ type: 'CALL', from: A, to: B, value: '0x0', calls }), moves);

  const base = { blockHash: BLOCK_HASH, transactionHash: TX_HASH };
  const parents = [
    { type: 'call', action: { callType: 'call', from: B, to: C, value: '0x5' }, result: {} },
    { type: 'call', action: { callType: 'delegatecall', from: B, to: C, value: '0x5' }, result: {} },
    { type: 'create', action: { from: B, value: '0x5' }, result: { address: C } },
    { type: 'call', action: { callType: 'callcode', from: B, to: C, value: '0x5' }, result: {} },
  ];
  const actions = [B, B, B, A].map((address) => ({
    address,
    refundAddress: address === A ? TOKEN : C,
    balance: '0x5',
  }));
  const flat = [
    { ...base, ...parents[0], traceAddress: [] },
    ...parents.flatMap((parent, i) => [
      { ...base, ...parent, traceAddress: [i] },
      { ...base, type: 'suicide', action: actions[i], result: null, traceAddress: [i, 0] },
    ]),
  ];
  const parts = { ...blockOf({ to: B }), traces: { form: 'flat' as const, value: flat } };
  assert.deepEqual(rowsOf(decode(parts)).map(brief), moves);
});

test('everything below a failed frame is left out, though its children carry no error mark', () => {
  const paying = { type: 'CALL', from: C, to: A, value: '0x9' };
  const failed = {
    type: 'CALL',
    from: B,
    to: C,
    value: '0x8',
    error: 'execution reverted',
    calls: [{ ...paying, calls: [paying] }],
  };
  const after = { type: 'CALL', from: B, to: A, value: '0x1' };
  assert.deepEqual(internalOf({ type: 'CALL', from: A, to: B, value: '0x0', calls: [failed, after] }), [
    ['native_internal', B, A, 1n],
  ]);
});

test('a frame whose error is null has not failed', () => {
  const paying = { type: 'CALL', from: B, to: C, value: '0x5', error: null, calls: null };
  assert.deepEqual(internalOf({ type: 'CALL', from: A, to: B, value: '0x0', error: null, calls: [paying] }), [
    ['native_internal', B, C, 5n],
  ]);
});

test('flat traces yield the same transfers as a call tree', () => {
  const base = { blockHash: BLOCK_HASH, transactionHash: TX_HASH };
  const call = (traceAddress: number[], value: string, extra = {}) => ({
    ...base,
    type: 'call',
    traceAddress,
    action: { callType: 'call', from: B, to: C, value },
    result: {},
    ...extra,
  });
  const flat = [
    call([], '0x63'),
    call([0], '0x1'),
    call([1], '0x2', { error: 'Reverted', result: null }),
    call([1, 0], '0x3'),
    call([1, 0, 0], '0x4'),
    call([9], '0x0'),
    call([10], '0x5'),
    {
      ...base,
      type: 'create',
      traceAddress: [11],
      action: { from: B, value: '0x6' },
      result: { address: A },
    },
    {
      ...base,
      type: 'suicide',
      traceAddress: [12],
      action: { address: C, refundAddress: A, balance: '0x7' },
      result: null,
    },
    {
      ...base,
      type: 'suicide',
      traceAddress: [12],
      action: { address: C, refundAddress: A, balance: '0x0' },
      result: null,
    },
    {
      ...base,
      type: 'call',
      traceAddress: [13],
      action: { callType: 'delegatecall', from: B, to: C, value: '0x8' },
    },
    { blockHash: base.blockHash, type: 'reward', traceAddress: [], action: { author: A, value: '0x9' } },
  ];
  const parts = { ...blockOf({ to: B }), traces: { form: 'flat' as const, value: flat } };
  assert.deepEqual(rowsOf(decode(parts)).map(brief), [
    ['native_internal', B, C, 1n],
    ['native_internal', B, C, 5n],
    ['native_internal', B, A, 6n],
    ['native_internal', C, A, 7n],
  ]);
});

test('a receipt without status (before Byzantium) counts as done unless the root call failed', () => {
  const root = { type: 'CALL', from: A, to: B, value: '0x5' };
  const done = blockOf({ value: '0x5', status: null }, root);
  const failed = blockOf({ value: '0x5', status: null }, { ...root, error: 'out of gas' });
  assert.equal(decode(done).transferCount, 1);
  assert.equal(decode(failed).transferCount, 0);
});

test('the time of a block may be any date that is not in milliseconds, unless the whole chain is', () => {
  const at = (timestamp: number, milliseconds = false) => {
    const { block, ...rest } = blockOf({ value: '0x5' });
    const parts = { ...rest, block: { ...(block as object), timestamp: `0x${timestamp.toString(16)}` } };
    return decode(parts, { ...PLAIN_RULES, milliseconds }).timestamp[0];
  };
  assert.equal(secondsToIso(at(5_000_000_000) ?? 0), '2128-06-11T08:53:20.000Z');
  assert.equal(secondsToIso(at(99_999_999_999) ?? 0), '5138-11-16T09:46:39.000Z');
  assert.throws(() => at(1_790_000_000_123), {
    reason: 'malformed',
    message: /^block \d+: the timestamp 1790000000123 is in milliseconds, those of the chain are not;/,
  });
  assert.equal(at(1_790_000_000_999, true), 1_790_000_000);
  assert.equal(at(1_600_000_000, true), 1_600_000_000, 'a first block in seconds');
  assert.equal(secondsToIso(at(8_640_000_000_000_000, true) ?? 0), '+275760-09-13T00:00:00.000Z');
  assert.throws(() => at(8_640_000_000_000_001, true), UpstreamError);
});

test('requests traces only for blocks where code ran or a receipt lacks its status', () => {
  const wants = (tx: Parameters<typeof blockOf>[0]) => {
    const { block, receipts } = blockOf(tx);
    return needsTraces(block, receipts, PLAIN_RULES);
  };
  assert.equal(wants({ value: '0x5' }), false, 'a plain transfer uses 21,000 gas');
  assert.equal(wants({ input: '0xa9059cbb' }), true);
  assert.equal(wants({ to: null }), true);
  assert.equal(wants({ input: '0xa9059cbb', status: '0x0' }), false, 'a failed transaction moved nothing');
  // Coins for a contract without gas left to accept them. Before Byzantium only the trace shows that they came back.
  assert.equal(wants({ value: '0x5', status: null }), true);
});

type Mutation = [
  string,
  (parts: { block: Record<string, unknown>; receipts: Record<string, unknown>[] }) => unknown,
];
const mutations: Mutation[] = [
  [
    'a receipt of another block',
    ({ receipts }) => Object.assign(receipts[0] ?? {}, { blockHash: `0x${'99'.repeat(32)}` }),
  ],
  [
    'a receipt of another transaction',
    ({ receipts }) => Object.assign(receipts[0] ?? {}, { transactionHash: `0x${'99'.repeat(32)}` }),
  ],
  ['a missing receipt', ({ receipts }) => receipts.pop()],
  ['a hash of the wrong length', ({ block }) => Object.assign(block, { hash: '0x12' })],
  ['a hash that is a number', ({ block }) => Object.assign(block, { hash: 5 })],
  ['a number that is no quantity', ({ block }) => Object.assign(block, { number: 5.5 })],
  ['a number of more than 32 bits', ({ block }) => Object.assign(block, { number: '0x100000000' })],
  ['transactions that are no list', ({ block }) => Object.assign(block, { transactions: {} })],
  ['transactions as hashes only', ({ block }) => Object.assign(block, { transactions: [TX_HASH] })],
  [
    'a value that is no hex',
    ({ block }) => Object.assign(block, { transactions: [{ hash: TX_HASH, from: A, to: B, value: '0xzz' }] }),
  ],
  ['a status of another kind', ({ receipts }) => Object.assign(receipts[0] ?? {}, { status: 'ok' })],
  ['logs that are no list', ({ receipts }) => Object.assign(receipts[0] ?? {}, { logs: {} })],
];
for (const [what, mutate] of mutations) {
  test(`${what} is refused as the node's fault`, () => {
    const parts = structuredClone(blockOf({ value: '0x5' })) as unknown as {
      block: Record<string, unknown>;
      receipts: Record<string, unknown>[];
    };
    mutate(parts);
    assert.throws(() => decode({ ...parts, traces: null }), UpstreamError);
  });
}

test('traces of another transaction or of too few are refused', () => {
  const parts = blockOf({ value: '0x5' });
  const trace = (value: unknown) => ({ ...parts, traces: { form: 'tree' as const, value } });
  assert.throws(() => decode(trace([])), UpstreamError);
  assert.throws(() => decode(trace([{ txHash: `0x${'99'.repeat(32)}`, result: {} }])), UpstreamError);
  assert.throws(() => decode(trace([{ txHash: TX_HASH, error: 'execution timeout' }])), UpstreamError);
  const flat = (value: unknown) => ({ ...parts, traces: { form: 'flat' as const, value } });
  const root = { type: 'call', traceAddress: [], action: { callType: 'call', from: A, to: B, value: '0x5' } };
  const own = { ...root, blockHash: BLOCK_HASH, transactionHash: TX_HASH };
  assert.equal(decode(flat([own])).transferCount, 1);
  const reward = { ...own, type: 'reward', action: { author: C, value: '0x9', rewardType: 'block' } };
  assert.equal(decode(flat([reward, own, reward])).transferCount, 1, 'Nethermind gives rewards a hash');
  assert.throws(() => decode(flat([])), UpstreamError);
  assert.throws(
    () => decode(flat([own, { ...own, transactionHash: `0x${'99'.repeat(32)}` }])),
    UpstreamError,
  );
  assert.throws(() => decode(flat([own, { ...own, blockHash: `0x${'99'.repeat(32)}` }])), UpstreamError);
});
