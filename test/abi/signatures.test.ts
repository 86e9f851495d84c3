/** Decoding of calls, events and errors, from honest contracts and hostile ones. */
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, parseAbi } from 'viem/utils';
import { parseDeclaration } from '../../src/abi/declaration.ts';
import { type AbiValue, decodeArgs } from '../../src/abi/decode.ts';
import { type AddedSignature, Signatures } from '../../src/abi/signatures.ts';

const ALICE = `0x${'a1'.repeat(20)}` as const;
const BOB = `0x${'b0'.repeat(20)}` as const;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const known = new Signatures();
const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const word = (value: bigint | number) => value.toString(16).padStart(64, '0');
const valuesOf = (decoded: { args: { value: AbiValue }[] | null } | null) =>
  decoded?.args?.map(({ value }) => value);

describe('calls', () => {
  it('are named, with their arguments by name and type', () => {
    const abi = parseAbi(['function transfer(address to, uint256 value)']);
    assert.deepEqual(known.decodeMethod(encodeFunctionData({ abi, args: [ALICE, 5n] })), {
      name: 'transfer',
      signature: 'transfer(address,uint256)',
      args: [
        { name: 'to', type: 'address', value: ALICE },
        { name: 'value', type: 'uint256', value: '5' },
      ],
    });
  });

  it('may hold nested tuples, arrays, texts and bytes', () => {
    const abi = parseAbi([
      'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
    ]);
    const calls = [
      { target: ALICE, allowFailure: true, callData: '0x1234' },
      { target: BOB, allowFailure: false, callData: '0x' },
    ] as const;
    const decoded = known.decodeMethod(encodeFunctionData({ abi, args: [calls] }));
    assert.deepEqual(valuesOf(decoded), [
      calls.map(({ target, allowFailure, callData }) => [
        { name: 'target', type: 'address', value: target },
        { name: 'allowFailure', type: 'bool', value: allowFailure },
        { name: 'callData', type: 'bytes', value: callData },
      ]),
    ]);
  });

  it('keep their name where the data is not what the declaration says', () => {
    for (const data of ['', word(1), `${'f'.repeat(64)}${word(1)}`, 'abc0'])
      assert.deepEqual(known.decodeMethod(`0xa9059cbb${data}`), {
        name: 'transfer',
        signature: 'transfer(address,uint256)',
        args: null,
      });
  });

  it('may have more data behind their arguments', () => {
    assert.deepEqual(valuesOf(known.decodeMethod(`0x2e1a7d4d${word(7)}c0ffee`)), ['7']);
  });

  it('are unknown without a declaration', () => {
    for (const input of ['0x', '0x12', '0x12345678', `0x${'00'.repeat(100)}`])
      assert.equal(known.decodeMethod(input), null);
    assert.equal(known.methodOf('0x12345678'), null);
    assert.equal(known.methodOf('0x38ed1739')?.name, 'swapExactTokensForTokens');
  });

  it('are told by the operator first', () => {
    const added: AddedSignature[] = [
      { kind: 'method', hash: '0xa9059cbb', declaration: 'transfer(address winner, uint256 prize)' },
      { kind: 'method', hash: '0x12345678', declaration: 'own()' },
    ];
    const own = new Signatures(added);
    assert.deepEqual(
      own.decodeMethod(`0xa9059cbb${word(1)}${word(2)}`)?.args?.map(({ name }) => name),
      ['winner', 'prize'],
    );
    assert.equal(own.methodOf('0x12345678')?.name, 'own');
    assert.equal(known.methodOf('0x12345678'), null);
  });
});

describe('events', () => {
  it('with one topic are told apart by what they index', () => {
    const [from, to] = [topicOf(ALICE), topicOf(BOB)];
    const argsOf = (topics: string[], data: string) =>
      known.decodeEvent([TRANSFER, ...topics], `0x${data}`)?.args?.map(({ name, value }) => [name, value]);
    const parties = [
      ['from', ALICE],
      ['to', BOB],
    ];
    assert.deepEqual(argsOf([from, to], word(9)), [...parties, ['value', '9']]);
    assert.deepEqual(argsOf([from, to, `0x${word(9)}`], ''), [...parties, ['tokenId', '9']]);
    assert.deepEqual(argsOf([], from.slice(2) + to.slice(2) + word(9)), [...parties, ['value', '9']]);
    assert.equal(argsOf([from], to.slice(2) + word(9)), undefined);
    assert.equal(argsOf([from, to], word(9) + word(9)), undefined, 'data beyond the arguments');
    assert.equal(argsOf([`0x${'ff'.repeat(32)}`, to], word(9)), undefined, 'a topic that is no address');
  });

  it('give the hash of an indexed value that does not fit a topic', () => {
    const abi = parseAbi(['event Named(string indexed name, uint256 value)']);
    const [topic, name] = encodeEventTopics({ abi, args: { name: 'alice' } });
    const own = new Signatures([
      { kind: 'event', hash: String(topic), declaration: 'Named(string indexed name, uint256 value)' },
    ]);
    assert.deepEqual(valuesOf(own.decodeEvent([String(topic), String(name)], `0x${word(3)}`)), [name, '3']);
  });

  it('without topics, or with others, are unknown', () => {
    assert.equal(known.decodeEvent([], '0x'), null);
    assert.equal(known.decodeEvent([`0x${word(1)}`], '0x'), null);
  });
});

it('what is encoded by another library is decoded to the same values', () => {
  const leaf = fc.oneof(
    fc.record({ type: fc.constant('uint256'), value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
    fc.record({ type: fc.constant('int64'), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    fc.record({ type: fc.constant('bool'), value: fc.boolean() }),
    fc.record({ type: fc.constant('string'), value: fc.string({ unit: 'grapheme', maxLength: 60 }) }),
    fc.record({
      type: fc.constant('bytes'),
      value: fc.uint8Array({ maxLength: 80 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
    }),
  );
  const lists = fc
    .oneof(
      fc.record({ type: fc.constant('uint256[]'), value: fc.array(fc.bigInt({ min: 0n, max: 9n ** 30n })) }),
      fc.record({ type: fc.constant('string[]'), value: fc.array(fc.string({ maxLength: 20 })) }),
      fc.record({
        type: fc.constant('bool[2][]'),
        value: fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 5 }),
      }),
    )
    .map(({ type, value }): { type: string; value: unknown } => ({ type, value }));
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    return typeof value === 'bigint' ? value.toString() : value;
  };
  fc.assert(
    fc.property(fc.array(fc.oneof(leaf, lists), { maxLength: 6 }), (given) => {
      const types = given.map(({ type }) => ({ type }));
      const data = encodeAbiParameters(
        types,
        given.map(({ value }) => value),
      );
      const { params } = parseDeclaration(`f(${types.map(({ type }) => type).join()})`);
      assert.deepEqual(
        decodeArgs(params, data.slice(2))?.map(({ value }) => value),
        given.map(({ value }) => plain(value)),
      );
    }),
  );
});

describe('hostile data', () => {
  const declarations = [
    'f(string[] a)',
    'f(bytes[] a, uint256[][] b)',
    'f((address a, (bytes b, string[] c)[] d)[] e)',
    'f(uint256[999999999] a)',
    'f(()[] a)',
    'f(string[3][] a, bool[] b)',
  ].map((text) => parseDeclaration(text));

  it('never throws, takes long, or yields much', () => {
    const words = fc.array(
      fc.oneof(
        fc.nat(2_048).map((bytes) => word(bytes & ~31)),
        fc.nat(40).map(word),
        fc.constantFrom('f'.repeat(64), word(2n ** 255n), word(2n ** 32n - 1n)),
      ),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(words, fc.constantFrom(...declarations), fc.nat(63), ([...data], { params }, cut) => {
        const digits = data.join('');
        const args = decodeArgs(params, digits.slice(0, Math.max(0, digits.length - 2 * cut)));
        assert.ok(args === null || JSON.stringify(args).length < 1_000_000);
      }),
      { numRuns: 500 },
    );
  });

  it('that points from many places to one text is refused', () => {
    const { params } = parseDeclaration('f(string[] a)');
    const items = 2_000;
    const long = '61'.repeat(4_096);
    const data = [word(32), word(items), ...Array<string>(items).fill(word(32 * items)), word(4_096), long];
    const startedAt = performance.now();
    assert.equal(decodeArgs(params, data.join('')), null);
    assert.ok(performance.now() - startedAt < 200);
  });

  it('that claims a length which it does not have is refused before anything is reserved', () => {
    for (const length of [2n ** 31n, 2n ** 32n - 1n, 2n ** 64n, 2n ** 256n - 1n]) {
      const { params } = parseDeclaration('f(uint256[] a)');
      assert.equal(decodeArgs(params, word(32) + word(length)), null);
      assert.equal(decodeArgs(parseDeclaration('f(bytes a)').params, word(32) + word(length)), null);
    }
    assert.equal(decodeArgs(parseDeclaration('f(()[] a)').params, word(32) + word(60_000)), null);
  });

  it('beyond what is decoded is refused at once', () => {
    const { params } = parseDeclaration('f(bytes a)');
    const length = 129 * 1024;
    assert.equal(decodeArgs(params, word(32) + word(length) + '00'.repeat(length)), null);
  });

  it('in long bytes and texts is cut, with an ellipsis', () => {
    const { params } = parseDeclaration('f(bytes a, string b)');
    const length = 5_000;
    const body = word(length) + '61'.repeat(length).padEnd(2 * 5_024, '0');
    const [bytes, text] = decodeArgs(params, word(64) + word(64) + body) ?? [];
    assert.equal(bytes?.value, `0x${'61'.repeat(4_096)}…`);
    assert.equal(text?.value, `${'a'.repeat(4_096)}…`);
  });
});
