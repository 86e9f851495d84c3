/** The calls within a call, of each form, and of hostile data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFunctionData, encodePacked, parseAbi } from 'viem/utils';
import { innerCallsOf } from '../../src/abi/inner-calls.ts';
import { Signatures } from '../../src/abi/signatures.ts';
import { innerCallRecords } from '../../src/api/inner-call-records.ts';

const ALICE = `0x${'a1'.repeat(20)}` as const;
const BOB = `0x${'b0'.repeat(20)}` as const;
const SAFE = `0x${'5a'.repeat(20)}` as const;
const known = new Signatures();

const TOKEN = parseAbi([
  'function transfer(address to, uint256 value)',
  'function multicall(bytes[] data)',
  'function stranger(uint256 value)',
]);
const transfer = (value: bigint) =>
  encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [BOB, value] });
const multicall = (calls: readonly `0x${string}`[]) =>
  encodeFunctionData({ abi: TOKEN, functionName: 'multicall', args: [calls] });

/** Encodes a call of the one function of an ABI. */
function encode(declaration: string, args: readonly unknown[]): `0x${string}` {
  return encodeFunctionData({ abi: parseAbi([declaration] as readonly string[]), args });
}

function innerOf(input: string) {
  const decoded = known.decodeMethod(input);
  assert.ok(decoded?.args, 'not decoded');
  return innerCallsOf(decoded);
}

const recordsOf = (input: string) => innerCallRecords(SAFE, known.decodeMethod(input), known);

test('each form names receiver, value and data', () => {
  const first = { to: ALICE, value: '0', data: transfer(1n) };
  const second = { to: BOB, value: '0', data: '0x' };
  const paid = [
    { ...first, value: '7' },
    { ...second, value: '8' },
  ];
  const [a, b] = [transfer(1n), '0x'];
  const own = [a, b].map((data) => ({ to: null, value: null, data }));
  assert.deepEqual(innerOf(multicall([a, '0x'])), own);
  assert.deepEqual(innerOf(encode('function multicall(uint256 d, bytes[] data)', [9n, [a, b]])), own);
  assert.deepEqual(
    innerOf(encode('function multicall(bytes32 h, bytes[] data)', [`0x${'00'.repeat(32)}`, [a, b]])),
    own,
  );
  for (const [declaration, ...args] of [
    [
      'function aggregate((address t, bytes d)[] c)',
      [
        { t: ALICE, d: a },
        { t: BOB, d: b },
      ],
    ],
    [
      'function aggregate3((address t, bool f, bytes d)[] c)',
      [
        { t: ALICE, f: true, d: a },
        { t: BOB, f: false, d: b },
      ],
    ],
    [
      'function tryAggregate(bool s, (address t, bytes d)[] c)',
      true,
      [
        { t: ALICE, d: a },
        { t: BOB, d: b },
      ],
    ],
    ['function executeBatch(address[] t, bytes[] d)', [ALICE, BOB], [a, b]],
  ] as const)
    assert.deepEqual(innerOf(encode(declaration, args)), [first, second], declaration);
  const calls = [
    { t: ALICE, f: true, v: 7n, d: a },
    { t: BOB, f: true, v: 8n, d: b },
  ];
  for (const [declaration, ...args] of [
    ['function aggregate3Value((address t, bool f, uint256 v, bytes d)[] c)', calls],
    ['function executeBatch((address t, uint256 v, bytes d)[] c)', calls],
    ['function executeBatch(address[] t, uint256[] v, bytes[] d)', [ALICE, BOB], [7n, 8n], [a, b]],
  ] as const)
    assert.deepEqual(innerOf(encode(declaration, args)), paid, declaration);
  const packed = paid.map(({ to, value, data }) =>
    encodePacked(
      ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
      [0, to, BigInt(value), BigInt(data.length / 2 - 1), data as `0x${string}`],
    ).slice(2),
  );
  assert.deepEqual(innerOf(encode('function multiSend(bytes transactions)', [`0x${packed.join('')}`])), paid);
});

test('calls of accounts hold one call, several by their mode, or those of operations', () => {
  const call = { to: ALICE, value: '7', data: transfer(1n) };
  assert.deepEqual(
    innerOf(encode('function execute(address t, uint256 v, bytes d)', [ALICE, 7n, call.data])),
    [call],
  );
  const execute = 'function execute(bytes32 mode, bytes calls)';
  const mode = (byte: string) => `0x${byte.padEnd(64, '0')}`;
  const packed = encodePacked(['address', 'uint256', 'bytes'], [ALICE, 7n, call.data]);
  assert.deepEqual(innerOf(encode(execute, [mode('00'), packed])), [call]);
  const batch = encode('function x((address t, uint256 v, bytes d)[] c)', [
    [{ t: ALICE, v: 7n, d: call.data }],
  ]);
  assert.deepEqual(innerOf(encode(execute, [mode('01'), `0x${batch.slice(10)}`])), [call]);
  for (const other of ['fe', 'ff']) assert.deepEqual(innerOf(encode(execute, [mode(other), packed])), []);
  for (const short of ['0x', `${packed.slice(0, 60)}`, '0x1234'])
    for (const byte of ['00', '01']) assert.deepEqual(innerOf(encode(execute, [mode(byte), short])), []);
  const zeros = `0x${'00'.repeat(32)}`;
  const operation = [ALICE, 1n, '0x', call.data, zeros, 1n, zeros, '0x', '0x'];
  const handleOps =
    'function handleOps((address s, uint256 n, bytes i, bytes c, bytes32 g, uint256 p, bytes32 f, bytes m, ' +
    'bytes x)[] o, address b)';
  const named = Object.fromEntries(
    ['s', 'n', 'i', 'c', 'g', 'p', 'f', 'm', 'x'].map((key, i) => [key, operation[i]]),
  );
  assert.deepEqual(innerOf(encode(handleOps, [[named], BOB])), [{ ...call, value: '0' }]);
});

test('calls within calls follow theirs, each with its receiver and depth', () => {
  const inner = multicall([
    transfer(1n),
    encodeFunctionData({ abi: TOKEN, functionName: 'stranger', args: [2n] }),
  ]);
  const { calls, callsTruncated } = recordsOf(
    encode('function aggregate3Value((address t, bool f, uint256 v, bytes d)[] c)', [
      [
        { t: ALICE, f: true, v: 10n ** 18n, d: inner },
        { t: BOB, f: true, v: 5n, d: '0x' },
      ],
    ]),
  );
  assert.deepEqual(
    calls?.map(({ depth, to, valueWei, method }) => [
      depth,
      to,
      valueWei,
      method?.name ?? method?.selector ?? null,
    ]),
    [
      [1, ALICE, '1000000000000000000', 'multicall'],
      [2, ALICE, null, 'transfer'],
      [2, ALICE, null, calls?.[2]?.method?.selector],
      [1, BOB, '5', null],
    ],
  );
  assert.deepEqual(calls?.[0]?.value, '1');
  assert.deepEqual(
    calls?.[1]?.method?.args?.map(({ value }) => value),
    [BOB, '1'],
  );
  assert.equal(callsTruncated, false);
});

test('other methods, none, and lists without calls have null', () => {
  for (const input of [transfer(1n), '0x12345678', multicall([]), '0xac9650d8', '0xac9650d8ffff'])
    assert.deepEqual(recordsOf(input), { calls: null, callsTruncated: false }, input);
  assert.deepEqual(innerCallRecords(null, known.decodeMethod(multicall([transfer(1n)])), known).calls, null);
});

test('many calls, deep ones and long ones are cut, and say so', () => {
  const many = recordsOf(multicall(Array.from({ length: 150 }, (_, i) => transfer(BigInt(i)))));
  assert.deepEqual([many.calls?.length, many.callsTruncated], [100, true]);
  const all = recordsOf(multicall(Array.from({ length: 100 }, (_, i) => transfer(BigInt(i)))));
  assert.deepEqual([all.calls?.length, all.callsTruncated], [100, false]);
  let deep = transfer(1n);
  for (let i = 0; i < 8; i++) deep = multicall([deep]);
  const nested = recordsOf(deep);
  assert.deepEqual([nested.calls?.map(({ depth }) => depth), nested.callsTruncated], [[1, 2, 3, 4], true]);
  const long = recordsOf(multicall([`${transfer(1n)}${'00'.repeat(5_000)}`]));
  assert.deepEqual([long.calls?.[0]?.method?.name, long.calls?.[0]?.method?.args], ['transfer', null]);
});

test('what hostile calls produce is bounded together, not each', () => {
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const heads = Array.from({ length: 30 }, () => word(30 * 32)).join('');
  const shared = `0xac9650d8${word(32)}${word(30)}${heads}${word(2_500)}${'ab'.repeat(2_528)}` as const;
  const started = process.cpuUsage().user;
  const { calls } = recordsOf(multicall(Array.from({ length: 20 }, () => shared)));
  assert.ok(calls?.[0]?.method?.args != null && calls.at(-1)?.method?.args === null, 'nothing was left out');
  assert.ok(JSON.stringify(calls).length < 600_000, `${JSON.stringify(calls).length} characters`);
  assert.ok(process.cpuUsage().user - started < 500_000, 'half a second');
});
