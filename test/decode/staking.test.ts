import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsTraces } from '../../src/decode/block.ts';
import { STAKING_CONTRACT, SYSTEM_SENDER } from '../../src/decode/staking.ts';
import {
  A,
  B,
  BLOCK_HASH,
  blockOf,
  decode,
  PLAIN_RULES,
  type PlainLog,
  rowsOf,
  skippedIn,
  TX_HASH,
  topicOf,
  word,
} from './plain.ts';

const CONTRACT = `0x${STAKING_CONTRACT}`;
const ZERO = `0x${'0'.repeat(40)}`;
const MONAD = { ...PLAIN_RULES, monad: true };
const CLAIM = '0xcb607e6b63c89c95f6ae24ece9fe0e38a7971aa5ed956254f1df47490921727b';
const WITHDRAW = '0x63030e4238e1146c63f38f4ac81b2b23c8be28882e68b03f0887e50d0e9bb18f';
const DELEGATE = '0xe4d4df1e1827dd28252fd5c3cd7ebccd3da6e0aa31f74c828f3c8542af49d840';

const validator = (id: number): string => `0x${word(id)}`;
const claimed = (id: number, amount: number): PlainLog => ({
  address: CONTRACT,
  topics: [CLAIM, validator(id), topicOf(A)],
  data: `0x${word(amount)}${word(7)}`,
});
const delegated = (id: number, amount: number): PlainLog => ({
  address: CONTRACT,
  topics: [DELEGATE, validator(id), topicOf(A)],
  data: `0x${word(amount)}${word(8)}`,
});
const withdrawn: PlainLog = {
  address: CONTRACT,
  topics: [WITHDRAW, validator(1), topicOf(A)],
  data: `0x${word(0)}${word(55)}${word(7)}`,
};
const staking = (selector: string, id: number, extra = {}) => ({
  type: 'CALL',
  from: A,
  to: CONTRACT,
  value: '0x0',
  input: `${selector}${word(id)}`,
  ...extra,
});
const payouts = (logs: PlainLog[], trace?: unknown) =>
  rowsOf(decode(blockOf({ logs }, trace), MONAD)).map((row) => [
    row.kind,
    row.from,
    row.to,
    row.amount,
    row.logIndex,
  ]);

test('the block reward is a mint to the staking contract, never an outflow of the system sender', () => {
  const reward = {
    from: `0x${SYSTEM_SENDER}`,
    to: CONTRACT,
    value: '0xf9ccd8a1c5080000',
    input: '0x791bdcf3',
  };
  const [row] = rowsOf(decode(blockOf(reward), MONAD));
  assert.deepEqual(
    [row?.kind, row?.from, row?.to, row?.amount],
    ['native_direct', ZERO, CONTRACT, 18_000_000_000_000_000_000n],
  );
  assert.equal(
    rowsOf(decode(blockOf(reward)))[0]?.from,
    `0x${SYSTEM_SENDER}`,
    'on other chains the address is like any other',
  );
});

test('withdraw and claimRewards pay from the staking contract as internal transfers', () => {
  assert.deepEqual(payouts([withdrawn]), [['native_internal', CONTRACT, A, 55n, null]]);
  assert.deepEqual(payouts([claimed(1, 9)], staking('0xa76e2ca5', 1)), [
    ['native_internal', CONTRACT, A, 9n, null],
  ]);
  assert.deepEqual(
    rowsOf(decode(blockOf({ logs: [withdrawn] }))),
    [],
    'on other chains the log says nothing',
  );
});

test('compound pays nothing though it emits ClaimRewards: with traces by the selector of the enclosing call', () => {
  const root = {
    type: 'CALL',
    from: B,
    to: A,
    value: '0x0',
    calls: [staking('0xb34fea67', 1), staking('0xa76e2ca5', 2)],
  };
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9), claimed(2, 4)], root), [
    ['native_internal', CONTRACT, A, 4n, null],
  ]);
  const claimThenDelegate = {
    type: 'CALL',
    from: B,
    to: A,
    value: '0x0',
    calls: [staking('0xa76e2ca5', 1), staking('0x84994fec', 1)],
  };
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9)], claimThenDelegate), [
    ['native_internal', CONTRACT, A, 9n, null],
  ]);
});

test('compound without traces is recognised by the equal Delegate log right after it', () => {
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9)]), []);
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 10)]).length, 1);
});

test('flat traces lack the call tree, so compound is recognised by its logs there too', () => {
  const parts = blockOf({ input: '0xb34fea67', logs: [claimed(1, 9), delegated(1, 9), claimed(2, 4)] });
  const call = { callType: 'call', from: A, to: CONTRACT, value: '0x0' };
  const value = [
    { blockHash: BLOCK_HASH, transactionHash: TX_HASH, type: 'call', traceAddress: [], action: call },
  ];
  const rows = rowsOf(decode({ ...parts, traces: { form: 'flat', value } }, MONAD));
  assert.deepEqual(
    rows.map(({ from, to, amount }) => [from, to, amount]),
    [[CONTRACT, A, 4n]],
  );
});

test('a call that failed inside does not explain a log: the later compound does', () => {
  const failed = staking('0xa76e2ca5', 1, { error: 'execution reverted' });
  const root = { type: 'CALL', from: B, to: A, value: '0x0', calls: [failed, staking('0xb34fea67', 1)] };
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9)], root), []);
});

test('a call for another validator or by another delegator does not explain a log', () => {
  const claims = [staking('0xa76e2ca5', 2), staking('0xa76e2ca5', 1, { from: B })]; // nothing to claim: no logs
  const root = { type: 'CALL', from: B, to: A, value: '0x0', calls: [...claims, staking('0xb34fea67', 1)] };
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9)], root), []);
});

test('a payout with a truncated log is counted and transfers nothing, and a zero payout transfers nothing', () => {
  const [event = '', id = '', delegator = ''] = withdrawn.topics;
  const cut = [
    { ...withdrawn, data: `0x${word(0)}${word(55).slice(2)}` },
    { ...withdrawn, topics: [event, id] },
    { ...claimed(1, 9), data: '0x' },
  ];
  const zero = [
    { ...withdrawn, data: `0x${word(1)}${word(0)}${word(7)}` },
    claimed(2, 0),
    { ...withdrawn, topics: [`0x${'5a'.repeat(32)}`, id, delegator] },
  ];
  const batch = decode(blockOf({ logs: [...cut, ...zero] }), MONAD);
  assert.deepEqual(rowsOf(batch), []);
  assert.deepEqual(skippedIn(batch), { staking_shape: 3 });
});

test('skips and counts a payout to an invalid address, and decodes the rest of the block', () => {
  const [, first, delegator = ''] = withdrawn.topics;
  const dirty = [delegator.slice(0, 50), `${delegator}00`, delegator.replace('0x00', '0x01')].map(
    (topic) => ({
      ...withdrawn,
      topics: [WITHDRAW, first ?? '', topic],
    }),
  );
  const batch = decode(blockOf({ logs: [...dirty, withdrawn] }), MONAD);
  assert.deepEqual(
    rowsOf(batch).map(({ to, amount }) => [to, amount]),
    [[A, 55n]],
  );
  assert.deepEqual(skippedIn(batch), { dirty_address: 3 });
});

test('rewards and claims are recognised even if the node sends mixed-case addresses', () => {
  const capitals = (address: string) => `0x${address.slice(2).toUpperCase()}`;
  const reward = { from: capitals(`0x${SYSTEM_SENDER}`), to: CONTRACT, value: '0x5', input: '0x791bdcf3' };
  assert.equal(rowsOf(decode(blockOf(reward), MONAD))[0]?.from, ZERO);
  const { block, receipts } = blockOf(reward);
  assert.equal(needsTraces(block, receipts, MONAD), false);
  assert.equal(needsTraces(block, receipts, PLAIN_RULES), true, 'elsewhere the sender may call any contract');
  const called = blockOf({ input: '0xa9059cbb' });
  assert.equal(needsTraces(called.block, called.receipts, MONAD), true);
  const compound = staking('0xb34fea67', 1, { from: capitals(A) });
  assert.deepEqual(payouts([claimed(1, 9), delegated(1, 9)], compound), []);
});
