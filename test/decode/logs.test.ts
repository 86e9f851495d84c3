import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CONSECUTIVE_TRANSFER,
  DEPOSIT,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  WITHDRAWAL,
} from '../../src/decode/logs.ts';
import {
  A,
  B,
  blockOf,
  C,
  decode,
  PLAIN_RULES,
  type PlainLog,
  rowsOf,
  skippedIn,
  TOKEN,
  topicOf,
  word,
} from './plain.ts';

const ZERO = `0x${'0'.repeat(40)}`;
const MAX = (1n << 256n) - 1n;

const rowsFrom = (logs: PlainLog[], wrapped: string[] = []) =>
  rowsOf(decode(blockOf({ logs }), { ...PLAIN_RULES, wrappedNative: new Set(wrapped) }));

test('three topics and one word are an ERC-20 transfer, of zero and of the largest amount too', () => {
  const transfer = (amount: bigint): PlainLog => ({
    topics: [TRANSFER, topicOf(A), topicOf(B)],
    data: `0x${word(amount)}`,
  });
  const rows = rowsFrom([transfer(5n), transfer(0n), transfer(MAX)]);
  assert.deepEqual(
    rows.map((row) => [row.kind, row.from, row.to, row.token, row.amount, row.logIndex]),
    [
      ['erc20', A, B, TOKEN, 5n, 0],
      ['erc20', A, B, TOKEN, 0n, 1],
      ['erc20', A, B, TOKEN, MAX, 2],
    ],
  );
});

test('four topics and no data are an ERC-721 transfer of one token, id zero included', () => {
  const nft = (id: bigint): PlainLog => ({
    topics: [TRANSFER, topicOf(A), topicOf(B), `0x${word(id)}`],
    data: '0x',
  });
  assert.deepEqual(
    rowsFrom([nft(7n), nft(0n), nft(MAX)]).map((row) => [row.kind, row.from, row.to, row.amount, row.id]),
    [
      ['erc721', A, B, 1n, 7n],
      ['erc721', A, B, 1n, 0n],
      ['erc721', A, B, 1n, MAX],
    ],
  );
});

test('a batch of ERC-1155 gives one transfer per id, in order, with the log index shared', () => {
  const data = `0x${word(64)}${word(160)}${word(2)}${word(1)}${word(2)}${word(2)}${word(10)}${word(0)}`;
  const single = {
    topics: [TRANSFER_SINGLE, topicOf(C), topicOf(A), topicOf(B)],
    data: `0x${word(9)}${word(4)}`,
  };
  const rows = rowsFrom([{ topics: [TRANSFER_BATCH, topicOf(C), topicOf(A), topicOf(B)], data }, single]);
  assert.deepEqual(
    rows.map((row) => [row.kind, row.from, row.to, row.id, row.amount, row.logIndex]),
    [
      ['erc1155', A, B, 1n, 10n, 0],
      ['erc1155', A, B, 2n, 0n, 0],
      ['erc1155', A, B, 9n, 4n, 1],
    ],
  );
});

test('an ERC-2309 range gives one ERC-721 transfer per id up to the limit and none beyond it', () => {
  const range = (from: bigint, to: bigint): PlainLog => ({
    topics: [CONSECUTIVE_TRANSFER, `0x${word(from)}`, topicOf(ZERO), topicOf(B)],
    data: `0x${word(to)}`,
  });
  assert.deepEqual(
    rowsFrom([range(3n, 5n)]).map((row) => [row.kind, row.from, row.to, row.id]),
    [
      ['erc721', ZERO, B, 3n],
      ['erc721', ZERO, B, 4n],
      ['erc721', ZERO, B, 5n],
    ],
  );
  assert.deepEqual(
    rowsFrom([range(MAX, MAX)]).map(({ id }) => id),
    [MAX],
    'a range of one id, the last there is',
  );
  assert.equal(rowsFrom([range(1n, 10_000n)]).length, 10_000);
  const refused = decode(blockOf({ logs: [range(0n, 10_000n), range(0n, MAX), range(5n, 4n)] }));
  assert.equal(refused.transferCount, 0);
  assert.deepEqual(skippedIn(refused), { consecutive_range: 2, consecutive_shape: 1 });
});

test('wrapped native: Deposit mints and Withdrawal burns, unless an equal Transfer reports the same', () => {
  const deposit = (amount: number): PlainLog => ({
    topics: [DEPOSIT, topicOf(A)],
    data: `0x${word(amount)}`,
  });
  const withdrawal: PlainLog = { topics: [WITHDRAWAL, topicOf(A)], data: `0x${word(4)}` };
  const mint: PlainLog = { topics: [TRANSFER, topicOf(ZERO), topicOf(A)], data: `0x${word(5)}` };
  assert.deepEqual(
    rowsFrom([deposit(5), withdrawal], [TOKEN]).map((row) => [row.kind, row.from, row.to, row.amount]),
    [
      ['erc20', ZERO, A, 5n],
      ['erc20', A, ZERO, 4n],
    ],
  );
  assert.equal(rowsFrom([deposit(5), mint], [TOKEN]).length, 1, 'the Transfer covers the Deposit');
  assert.equal(
    rowsFrom([deposit(5), deposit(5), mint], [TOKEN]).length,
    2,
    'one Transfer covers one Deposit',
  );
  assert.equal(rowsFrom([deposit(6), mint], [TOKEN]).length, 2, 'another amount is another event');
  const approval = { ...mint, topics: [`0x${'8c'.repeat(32)}`, ...mint.topics.slice(1)] };
  assert.equal(rowsFrom([deposit(5), approval], [TOKEN]).length, 1, 'only a Transfer covers a Deposit');
  const malformed = { ...mint, topics: [...mint.topics, `0x${word(1)}`] };
  assert.equal(rowsFrom([deposit(5), malformed], [TOKEN]).length, 1, 'a skipped Transfer covers no Deposit');
  assert.equal(rowsFrom([deposit(5)]).length, 0, 'other contracts may name an event Deposit');
});

const unindexed = (from: string, to: string, number: bigint): PlainLog => ({
  topics: [TRANSFER],
  data: `0x${from.slice(2).padStart(64, '0')}${to.slice(2).padStart(64, '0')}${word(number)}`,
});

test('a Transfer without indexed arguments is of an NFT, unless its token is listed as an ERC-20', () => {
  const logs = [unindexed(ZERO, A, 1001n), unindexed(A, B, MAX), unindexed(A, B, 0n)];
  assert.deepEqual(
    rowsFrom(logs).map((row) => [row.kind, row.from, row.to, row.token, row.amount, row.id]),
    [
      ['erc721', ZERO, A, TOKEN, 1n, 1001n],
      ['erc721', A, B, TOKEN, 1n, MAX],
      ['erc721', A, B, TOKEN, 1n, 0n],
    ],
  );
  const rules = { ...PLAIN_RULES, unindexedErc20: new Set([TOKEN]) };
  assert.deepEqual(
    rowsOf(decode(blockOf({ logs }), rules)).map((row) => [row.kind, row.amount, row.id]),
    [
      ['erc20', 1001n, null],
      ['erc20', MAX, null],
      ['erc20', 0n, null],
    ],
  );
});

test('by rules 1, a Transfer without indexed arguments is skipped', () => {
  const batch = decode(blockOf({ logs: [unindexed(A, B, 5n)] }), { ...PLAIN_RULES, version: 1 });
  assert.equal(batch.transferCount, 0);
  assert.deepEqual(skippedIn(batch), { transfer_topics: 1 });
});

test('the logs of a native coin that is also a contract are no token transfers', () => {
  const logs: PlainLog[] = [
    { topics: [TRANSFER, topicOf(A), topicOf(B)], data: `0x${word(5)}` },
    { topics: [DEPOSIT, topicOf(A)], data: `0x${word(5)}` },
    { topics: [TRANSFER, topicOf(A)], data: `0x${word(5)}` },
    { address: C, topics: [TRANSFER, topicOf(A), topicOf(B)], data: `0x${word(6)}` },
  ];
  const rules = { ...PLAIN_RULES, nativeContracts: new Set([TOKEN]), wrappedNative: new Set([TOKEN]) };
  const batch = decode(blockOf({ logs }), rules);
  assert.deepEqual(
    rowsOf(batch).map((row) => [row.token, row.amount]),
    [[C, 6n]],
  );
  assert.deepEqual(skippedIn(batch), {}, 'nothing is malformed');
});

test("EIP-7708's emitter is not a token", () => {
  const log = {
    address: '0xfffffffffffffffffffffffffffffffffffffffe',
    topics: [TRANSFER, topicOf(A), topicOf(B)],
    data: `0x${word(5)}`,
  };
  const batch = decode(blockOf({ logs: [log] }));
  assert.equal(batch.transferCount, 0);
  assert.deepEqual(skippedIn(batch), {});
});

const dirty = `0x${'1'.repeat(24)}${A.slice(2)}`;
const malformed: [string, PlainLog][] = [
  ['transfer_data', { topics: [TRANSFER], data: `0x${word(1)}${word(2)}` }],
  ['transfer_data', { topics: [TRANSFER], data: `0x${word(1)}${word(2)}${word(3)}${word(4)}` }],
  ['dirty_address', { topics: [TRANSFER], data: `0x${dirty.slice(2)}${word(2)}${word(3)}` }],
  ['dirty_address', { topics: [TRANSFER], data: `0x${word(1)}${dirty.slice(2)}${word(3)}` }],
  ['transfer_one_indexed', { topics: [TRANSFER, topicOf(A)], data: `0x${word(1)}` }],
  ['transfer_one_indexed', { topics: [TRANSFER, topicOf(A)], data: `0x${word(1)}${word(2)}` }],
  [
    'transfer_topics',
    { topics: [TRANSFER, topicOf(A), topicOf(B), topicOf(C), topicOf(C)], data: `0x${word(1)}` },
  ],
  ['transfer_data', { topics: [TRANSFER, topicOf(A), topicOf(B)], data: '0x' }],
  ['transfer_data', { topics: [TRANSFER, topicOf(A), topicOf(B)], data: `0x${'ff'.repeat(31)}` }],
  ['transfer_data', { topics: [TRANSFER, topicOf(A), topicOf(B)], data: `0x${word(1)}${word(1)}` }],
  ['transfer_data', { topics: [TRANSFER, topicOf(A), topicOf(B), topicOf(C)], data: `0x${word(1)}` }],
  ['dirty_address', { topics: [TRANSFER, dirty, topicOf(B)], data: `0x${word(1)}` }],
  ['dirty_address', { topics: [TRANSFER, topicOf(A), dirty, topicOf(C)], data: '0x' }],
  [
    'dirty_address',
    {
      topics: [TRANSFER_BATCH, topicOf(A), dirty, topicOf(B)],
      data: `0x${word(64)}${word(64)}${word(2)}${word(5)}${word(6)}`,
    },
  ],
  [
    'dirty_address',
    {
      topics: [TRANSFER_BATCH, topicOf(A), topicOf(B), dirty],
      data: `0x${word(64)}${word(64)}${word(2)}${word(5)}${word(6)}`,
    },
  ],
  [
    'dirty_address',
    { topics: [CONSECUTIVE_TRANSFER, `0x${word(1)}`, topicOf(A), dirty], data: `0x${word(9)}` },
  ],
  [
    'dirty_address',
    { topics: [CONSECUTIVE_TRANSFER, `0x${word(1)}`, dirty, topicOf(A)], data: `0x${word(9)}` },
  ],
  [
    'consecutive_shape',
    { topics: [CONSECUTIVE_TRANSFER, `0x${word(1)}`, topicOf(A), topicOf(B)], data: '0x' },
  ],
  ['consecutive_shape', { topics: [CONSECUTIVE_TRANSFER, `0x${word(1)}`, topicOf(A)], data: `0x${word(9)}` }],
  ['wrapped_shape', { topics: [DEPOSIT], data: `0x${word(5)}` }],
  ['wrapped_shape', { topics: [DEPOSIT, topicOf(A), topicOf(B)], data: `0x${word(5)}` }],
  ['wrapped_shape', { topics: [WITHDRAWAL, topicOf(A)], data: `0x${word(5)}${word(6)}` }],
  ['dirty_address', { topics: [WITHDRAWAL, dirty], data: `0x${word(5)}` }],
  ['single_shape', { topics: [TRANSFER_SINGLE, topicOf(A), topicOf(B)], data: `0x${word(1)}${word(1)}` }],
  ['single_shape', { topics: [TRANSFER_SINGLE, topicOf(A), topicOf(A), topicOf(B)], data: `0x${word(1)}` }],
  ['batch_shape', { topics: [TRANSFER_BATCH, topicOf(A), topicOf(A), topicOf(B)], data: '0x' }],
  [
    'batch_shape',
    { topics: [TRANSFER_BATCH, topicOf(A), topicOf(A), topicOf(B)], data: `0x${word(MAX)}${word(MAX)}` },
  ],
  [
    'batch_shape',
    {
      topics: [TRANSFER_BATCH, topicOf(A), topicOf(A), topicOf(B)],
      data: `0x${word(64)}${word(128)}${word(1)}${word(3)}${word(2)}${word(5)}${word(6)}`,
    },
  ],
  [
    'batch_shape',
    {
      topics: [TRANSFER_BATCH, topicOf(A), topicOf(A), topicOf(B)],
      data: `0x${word(64)}${word(96)}${word(1n << 200n)}${word(0)}`,
    },
  ],
];
for (const [reason, log] of malformed) {
  test(`a log of ${log.topics.length} topics and ${(log.data.length - 2) / 2} bytes (${reason}) is no transfer`, () => {
    const batch = decode(blockOf({ logs: [log] }), { ...PLAIN_RULES, wrappedNative: new Set([TOKEN]) });
    assert.equal(batch.transferCount, 0);
    assert.deepEqual(skippedIn(batch), { [reason]: 1 });
    const [, skipped] = batch.skipped;
    assert.match(skipped?.txHash ?? '', /^0x[0-9a-f]{64}$/, 'an example');
    assert.equal(skipped?.contract, TOKEN);
    assert.equal(skipped?.block, 5);
  });
}

test('logs of a failed transaction are ignored', () => {
  const logs = [{ topics: [TRANSFER, topicOf(A), topicOf(B)], data: `0x${word(1)}` }];
  assert.equal(decode(blockOf({ status: '0x0', value: '0x5', logs })).transferCount, 0);
});
