/** The same block in every spelling that nodes use, and spellings that mean nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlockParts, needsTraces } from '../../src/decode/block.ts';
import { IncompleteBlockError } from '../../src/decode/block-checks.ts';
import { TRANSFER } from '../../src/decode/logs.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import {
  A,
  B,
  BLOCK_HASH,
  blockOf,
  C,
  decode,
  PLAIN_RULES,
  rowsOf,
  skippedIn,
  TOKEN,
  TX_HASH,
  topicOf,
  word,
} from './plain.ts';

type Members = Record<string, unknown>;

interface Change {
  block?: Members;
  tx?: Members;
  receipt?: Members;
  log?: Members;
  frame?: Members;
}

const ZERO = `0x${'0'.repeat(40)}`;
const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;

/** A transaction that pays 5 to B, logs a transfer of 7 units and pays 3 internally, with changed members. */
function changed({ block = {}, tx = {}, receipt = {}, log = {}, frame = {} }: Change): BlockParts {
  const topics = [TRANSFER, topicOf(A), topicOf(B)];
  const inner = { type: 'CALL', from: B, to: C, value: '0x3', input: '0x', ...frame };
  const root = { type: 'CALL', from: A, to: B, value: '0x5', input: '0x01', calls: [inner] };
  const parts = structuredClone(
    blockOf({ value: '0x5', input: '0x01', logs: [{ topics, data: `0x${word(7)}` }] }, root),
  ) as unknown as {
    block: Members & { transactions: Members[] };
    receipts: (Members & { logs: Members[] })[];
    traces: BlockParts['traces'];
  };
  Object.assign(parts.block, block);
  Object.assign(parts.block.transactions?.[0] ?? {}, tx);
  Object.assign(parts.receipts[0]?.logs[0] ?? {}, log);
  Object.assign(parts.receipts[0] ?? {}, receipt);
  return parts;
}

const USUAL = decode(changed({}));

const same: [string, Change][] = [
  ['numbers with leading zeros', { block: { number: '0x05', timestamp: '0x0064' }, tx: { value: '0x005' } }],
  ['JSON numbers', { block: { number: 5, timestamp: 100 }, tx: { value: 5 }, log: { logIndex: 0 } }],
  [
    'decimal strings',
    { block: { number: '5', timestamp: '100' }, tx: { value: '5' }, frame: { value: '3' } },
  ],
  ['a fraction of a second', { block: { timestamp: 100.75 } }],
  ['a fraction of a second in a text', { block: { timestamp: '100.0' } }],
  ['0x for zero', { log: { logIndex: '0x' } }],
  ['more than 64 digits of which the first are zero', { tx: { value: `0x${'0'.repeat(70)}5` } }],
  [
    'upper-case hex',
    {
      block: { hash: upper(BLOCK_HASH), parentHash: `0x${'B0'.repeat(32)}` },
      tx: { hash: upper(TX_HASH), from: upper(A), to: upper(B) },
      receipt: { blockHash: upper(BLOCK_HASH), transactionHash: upper(TX_HASH) },
      log: { address: upper(TOKEN), topics: [TRANSFER, topicOf(A), topicOf(B)].map(upper) },
      frame: { from: upper(B), to: upper(C) },
    },
  ],
  [
    'hex that is upper-case throughout',
    { block: { hash: BLOCK_HASH.toUpperCase() }, tx: { to: B.toUpperCase() } },
  ],
  ['a status with leading zeros', { receipt: { status: '0x01' } }],
  ['a status as a JSON number', { receipt: { status: 1 } }],
  ['a status as a decimal string', { receipt: { status: '1' } }],
  ['a status as a boolean', { receipt: { status: true } }],
  ['a receiver repeated as a created contract', { receipt: { contractAddress: C } }],
  ['no created contract as the empty text', { receipt: { contractAddress: '' } }],
  ['no log index', { log: { logIndex: undefined } }],
  ['a log index of null', { log: { logIndex: null } }],
  ['an empty log index', { log: { logIndex: '' } }],
  ['nulls after the topics', { log: { topics: [TRANSFER, topicOf(A), topicOf(B), null] } }],
  ['a frame type in another case', { frame: { type: 'Call' } }],
  ['empty errors', { frame: { error: '', revertReason: null, calls: '' } }],
  [
    'members that nothing reads',
    { block: { miner: null, uncles: null }, tx: { v: null }, log: { removed: null } },
  ],
];
for (const [what, change] of same) {
  test(`a block is read the same with ${what}`, () => {
    assert.deepEqual(decode(changed(change)), USUAL);
  });
}

const refused: [string, Change, RegExp][] = [
  ['a fraction', { block: { number: 5.5 } }, /the node sent 5\.5 as block number/],
  ['a negative time', { block: { timestamp: -0.5 } }, /block 5.*: the node sent -1 as timestamp/],
  ['a negative number', { tx: { value: -1 } }, /block 5.* -1 as transaction value/],
  ['a number whose last digits are lost', { tx: { value: 1e18 } }, /block 5.* as transaction value/],
  ['a value of more than 256 bits', { tx: { value: `0x1${'0'.repeat(64)}` } }, /block 5.* transaction value/],
  ['an empty value', { tx: { value: '' } }, /block 5.*: the node sent "" as transaction value/],
  ['a value without a prefix', { tx: { value: 'ff' } }, /block 5.*: the node sent "ff" as transaction value/],
  ['a status of 2', { receipt: { status: '0x2' } }, /block 5.*: the node sent "0x2" as receipt status/],
  ['an empty status', { receipt: { status: '' } }, /block 5.*: the node sent "" as receipt status/],
  [
    'a receiver that is no address',
    { tx: { to: '0x12' } },
    /block 5.*: the node sent "0x12" as transaction to/,
  ],
  ['a receiver that is a number', { tx: { to: 7 } }, /block 5.*: the node sent 7 as transaction to/],
  ['a sender that is no hex', { tx: { from: `0x${'z'.repeat(40)}` } }, /block 5.* transaction from|address/],
  ['no logs', { receipt: { logs: undefined } }, /block 5.*: the node sent missing as receipt logs/],
  ['no topics', { log: { topics: undefined } }, /block 5.*: the node sent missing as log topics/],
  ['no data', { log: { data: undefined } }, /block 5.*: the node sent missing as log data/],
  ['a log index that is none', { log: { logIndex: 'x' } }, /block 5.*: the node sent "x" as logIndex/],
  ['data that is no hex', { log: { data: `0x${'z'.repeat(64)}` } }, /block 5.* as amount/],
  ['no hash', { block: { hash: null } }, /block 5.*: the node sent null as block hash/],
  ['a paying frame without a receiver', { frame: { to: '' } }, /block 5.*: the node sent "" as frame to/],
];
for (const [what, change, message] of refused) {
  test(`a block with ${what} is refused, with its number and the field`, () => {
    assert.throws(
      () => decode(changed(change)),
      (error) =>
        error instanceof UpstreamError &&
        (error.reason === 'malformed' || error instanceof IncompleteBlockError) &&
        message.test(error.message),
    );
  });
}

test('a list that is null is empty', () => {
  const topics = decode(changed({ log: { topics: null } }));
  assert.deepEqual(
    rowsOf(topics).map(({ kind }) => kind),
    ['native_direct', 'native_internal'],
  );
  const logs = decode(changed({ receipt: { logs: null } }));
  assert.equal(logs.transferCount, 2);
  const empty = { ...blockOf({}), receipts: null, traces: null };
  const { block } = blockOf({});
  assert.equal(decode({ ...empty, block: { ...(block as Members), transactions: null } }).blockCount, 1);
});

test('an NFT transfer whose empty data is null or the empty text is read', () => {
  const topics = [TRANSFER, topicOf(A), topicOf(B), `0x${word(9)}`];
  for (const data of [null, '', '0x', '0X'])
    assert.deepEqual(
      rowsOf(decode(changed({ log: { topics, data } }))).map(({ id }) => id),
      [null, null, 9n],
      String(data),
    );
});

const direct = (parts: BlockParts) => rowsOf(decode(parts)).map(({ kind, to, amount }) => [kind, to, amount]);

test('a creation is told by null, "", "0x", "0x0", the zero address or no receiver, and pays the contract', () => {
  for (const to of [null, undefined, '', '0x', '0x0', ZERO]) {
    const parts = blockOf({ value: '0x9', contractAddress: upper(C) });
    const { transactions } = parts.block as { transactions: Members[] };
    Object.assign(transactions[0] ?? {}, { to });
    assert.deepEqual(direct(parts), [['native_direct', C, 9n]], String(to));
    assert.ok(needsTraces(parts.block, parts.receipts, PLAIN_RULES), String(to));
  }
  for (const contractAddress of [null, '', '0x', '0x0', ZERO])
    assert.deepEqual(
      direct(blockOf({ to: ZERO, value: '0x9', contractAddress })),
      [['native_direct', ZERO, 9n]],
      'a payment to the zero address is none',
    );
  assert.throws(() => direct(blockOf({ to: null, value: '0x9' })), /block 5.* as transaction to/);
});

test('the root frame of a creation names the contract where the receipt does not', () => {
  const frame = { type: 'CREATE', from: A, to: upper(C), value: '0x9', input: '0x01' };
  for (const contractAddress of [undefined, null, '', ZERO]) {
    const parts = blockOf({ to: null, value: '0x9', input: '0x01', contractAddress }, frame);
    assert.deepEqual(direct(parts), [['native_direct', C, 9n]], String(contractAddress));
  }
  const other = blockOf({ to: null, value: '0x9', input: '0x01', contractAddress: B }, frame);
  assert.deepEqual(direct(other), [['native_direct', B, 9n]], 'the receipt decides');
});

test('a failed transaction is told by any spelling of zero', () => {
  for (const status of ['0x0', '0x', '0x00', '0', 0, false]) {
    const parts = changed({ receipt: { status } });
    assert.equal(decode(parts).transferCount, 0, String(status));
    assert.equal(needsTraces(parts.block, parts.receipts, PLAIN_RULES), false, String(status));
  }
});

test('a plain transfer is told in any spelling, and from the Amsterdam fork on none is', () => {
  const wants = (tx: Members, receipt: Members = {}, block: Members = {}) => {
    const parts = changed({ tx: { input: '0x', ...tx }, receipt, block });
    return needsTraces(parts.block, parts.receipts, PLAIN_RULES);
  };
  for (const input of ['0x', '0x0', '', null]) assert.equal(wants({ input }), false, String(input));
  for (const gasUsed of ['0x5208', '0x05208', 21_000, '21000']) assert.equal(wants({}, { gasUsed }), false);
  assert.equal(wants({ input: undefined }), true, 'an input that is left out may be anything');
  assert.equal(wants({}, { gasUsed: '0x5209' }), true);
  assert.equal(wants({}, {}, { slotNumber: '0x0' }), true);
  assert.equal(wants({}, {}, { blockAccessListHash: BLOCK_HASH }), true);
  assert.equal(wants({}, {}, { slotNumber: null, blockAccessListHash: null }), false);
});

test('a receipt without a transaction gives its logs to the block, at its place', () => {
  const STATE_SYNC = `0x${'5c'.repeat(32)}`;
  const { block, receipts, traces } = changed({});
  const [receipt] = receipts as [Members];
  const topics = [TRANSFER, topicOf(ZERO), topicOf(C)];
  const log = { address: TOKEN, topics, data: `0x${word(11)}`, logIndex: '0x1' };
  const extra = { ...receipt, transactionHash: STATE_SYNC, logs: [log], contractAddress: null };
  const amounts = (parts: BlockParts) => rowsOf(decode(parts)).map(({ amount }) => amount);
  assert.deepEqual(amounts({ block, receipts: [receipt, extra], traces }), [5n, 3n, 7n, 11n]);
  assert.deepEqual(amounts({ block, receipts: [extra, receipt], traces }), [11n, 5n, 3n, 7n]);
  assert.deepEqual(amounts({ block, receipts: [receipt, extra, extra], traces }), [5n, 3n, 7n, 11n], 'twice');
  assert.ok(needsTraces(block, [extra, receipt], PLAIN_RULES));
  for (const form of ['tree', 'flat'] as const) {
    const own = { txHash: TX_HASH, result: { ...ROOT, calls: [PAYING] } };
    const other = { txHash: STATE_SYNC, result: { ...ROOT, calls: [PAYING, PAYING] } };
    const action = { callType: 'call', from: A, to: B, value: '0x0' };
    const flat = { type: 'call', blockHash: BLOCK_HASH, traceAddress: [], action };
    const value =
      form === 'tree'
        ? [other, own]
        : [STATE_SYNC, TX_HASH].map((transactionHash) => ({ ...flat, transactionHash }));
    const internal = form === 'tree' ? [3n] : [];
    const parts = { block, receipts: [receipt, extra], traces: { form, value } };
    assert.deepEqual(amounts(parts), [5n, ...internal, 7n, 11n], form);
    assert.throws(() => decode({ ...parts, receipts: [receipt] }), /block 5: the node traced/);
  }
  const alone = { ...(block as Members), transactions: [] };
  const none = { form: 'tree', value: [] } as const;
  assert.deepEqual(amounts({ block: alone, receipts: [extra], traces: none }), [11n]);
  const foreign = { ...extra, blockHash: `0x${'99'.repeat(32)}` };
  for (const list of [
    [receipt, foreign],
    [receipt, extra, { ...extra, gasUsed: '0x1' }],
    [receipt, { ...extra, transactionHash: null }],
  ])
    assert.throws(() => decode({ block, receipts: list, traces }), /UpstreamError: block 5: /);
});

const traced = (value: unknown): BlockParts => ({
  ...blockOf({ input: '0x01' }),
  traces: { form: 'tree', value },
});
const ROOT = { type: 'CALL', from: A, to: B, value: '0x0', input: '0x01' };
const PAYING = { type: 'CALL', from: B, to: C, value: '0x3', input: '0x' };

test('root frames without a wrapper are read, and a reason in their place is an error', () => {
  const root = { ...ROOT, calls: [PAYING] };
  assert.equal(decode(traced([root])).transferCount, 1);
  assert.equal(decode(traced([{ ...root, error: 'execution reverted' }])).transferCount, 0);
  assert.equal(decode(traced([{ result: root, txHash: null }])).transferCount, 1);
  assert.equal(decode(traced([{ result: root, txHash: upper(TX_HASH) }])).transferCount, 1);
  assert.throws(() => decode(traced([root, root])), /block 5: the node traced 2 of 1/);
  for (const item of [
    { error: 'timeout' },
    { txHash: TX_HASH, result: null },
    { type: 'ERROR', error: 'no' },
    {},
  ])
    assert.throws(() => decode(traced([item])), /block 5: the node could not trace/);
  for (const item of [null, 'none', { txHash: TX_HASH, result: 'none' }])
    assert.throws(() => decode(traced([item])), /block 5: the node could not trace/);
  for (const list of ['none', {}, { [TX_HASH]: root }])
    assert.throws(() => decode(traced(list)), /block 5: the node traced 0 of 1/);
});

test('what cannot be read of a transaction is left out where every node says the same', () => {
  const kinds = (change: Change) => {
    const parts = changed(change);
    const found = (() => {
      try {
        decode(parts);
        return assert.fail('it was read');
      } catch (error) {
        if (!(error instanceof IncompleteBlockError)) throw error;
        return error.found;
      }
    })();
    assert.deepEqual(found.checks, ['unreadable']);
    const batch = decode(parts, {
      ...PLAIN_RULES,
      tolerance: { ...PLAIN_RULES.tolerance, accepted: [found.digest] },
    });
    assert.deepEqual(
      batch.gaps.map(({ kind, reason }) => [kind, reason]),
      [['log', 'a transaction cannot be read, or its internal transfers']],
    );
    assert.equal(batch.addresses.length, 20 * new Set(rowsOf(batch).flatMap(partiesOf)).size);
    return rowsOf(batch).map(({ kind }) => kind);
  };
  assert.deepEqual(kinds({ frame: { to: `0x${'z'.repeat(40)}` } }), ['native_direct', 'erc20']);
  assert.deepEqual(kinds({ log: { topics: [TRANSFER, topicOf(A), topicOf(`0x${'z'.repeat(40)}`)] } }), []);
  assert.deepEqual(kinds({ tx: { value: -1 } }), []);
});

const partiesOf = ({ from, to, token }: ReturnType<typeof rowsOf>[number]) =>
  token === null ? [from, to] : [from, to, token];

test('a frame that has only a reason for its revert has failed', () => {
  const calls = [{ ...PAYING, type: 'call', error: null, revertReason: 'Unknown revert reason', calls: [] }];
  assert.equal(decode(traced([{ result: { ...ROOT, calls } }])).transferCount, 0);
});

test('types of frames are read in any case, and what moves no value does not in any', () => {
  const kinds = (type: string) => decode(traced([{ result: { ...ROOT, calls: [{ ...PAYING, type }] } }]));
  for (const type of [
    'CALL',
    'Call',
    'call',
    'CREATE',
    'create',
    'Create2',
    'SELFDESTRUCT',
    'selfdestruct',
    'suicide',
  ])
    assert.equal(kinds(type).transferCount, 1, type);
  for (const type of ['delegatecall', 'DelegateCall', 'CALLCODE', 'callcode', 'StaticCall']) {
    assert.equal(kinds(type).transferCount, 0, type);
    assert.deepEqual(kinds(type).gaps, [], type);
  }
});

test('a payment in a trace that cannot be read makes its block incomplete and is counted', () => {
  const unread = (frame: Members) => {
    const batch = decode(traced([{ result: { ...ROOT, calls: [frame, PAYING] } }]));
    assert.equal(batch.transferCount, 1, 'the other payments are read');
    return [batch.gaps.map(({ first }) => first), skippedIn(batch)];
  };
  const destroyed = [[5], { selfdestruct_shape: 1 }];
  assert.deepEqual(unread({ type: 'SELFDESTRUCT' }), destroyed);
  assert.deepEqual(unread({ type: 'SELFDESTRUCT', from: null, to: null, value: null }), destroyed);
  assert.deepEqual(unread({ type: 'selfdestruct', from: '0x', to: '', value: '0x5' }), destroyed);
  assert.deepEqual(unread({ type: 'SELFDESTRUCT', from: B, to: C, value: '' }), destroyed);
  assert.deepEqual(unread({ type: 'SELFDESTRUCT', value: '0x0' }), [[], {}]);
  assert.deepEqual(unread({ ...PAYING, type: 'AUTHCALL' }), [[5], { frame_type: 1 }]);
  assert.deepEqual(unread({ ...PAYING, type: 'AUTHCALL', value: '0x0' }), [[], {}]);
  const failed = { ...PAYING, to: undefined, error: 'out of gas', calls: [{ type: 'SELFDESTRUCT' }] };
  assert.deepEqual(unread(failed), [[], {}]);
});

test('flat traces are read in any spelling, and make a block incomplete like call trees', () => {
  const base = { blockHash: upper(BLOCK_HASH), transactionHash: upper(TX_HASH) };
  const action = { callType: 'call', from: A, to: B, value: '0x0' };
  const flat = (...traces: Members[]) => {
    const value = [
      { ...base, type: 'call', action, traceAddress: null },
      ...traces.map((trace) => ({ ...base, ...trace })),
    ];
    return decode({ ...blockOf({ input: '0x01' }), traces: { form: 'flat', value } });
  };
  const call = (more: Members, callType: unknown = 'call') => ({
    type: 'call',
    traceAddress: [0],
    action: { callType, from: upper(B), to: C, value: 3 },
    ...more,
  });
  assert.equal(flat(call({ type: 'Call', error: '' }, 'CALL')).transferCount, 1);
  assert.equal(flat(call({ error: 'Reverted' })).transferCount, 0);
  assert.equal(flat(call({}, 'DelegateCall')).transferCount, 0);
  assert.deepEqual(skippedIn(flat(call({}, null))), { frame_type: 1 });
  assert.deepEqual(
    flat({ type: 'suicide', action: {}, traceAddress: [0] }).gaps.map(({ first }) => first),
    [5],
  );
  const balance = { address: B, refundAddress: C, balance: '5' };
  assert.equal(flat({ type: 'Suicide', action: balance, traceAddress: [0] }).transferCount, 1);
});
