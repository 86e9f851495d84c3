/** How blocks change balances other than by transfers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BalanceAdjustments } from '../../src/tokens/balance-drift.ts';

const MINER = `0x${'aa'.repeat(20)}`;
const SENDER = `0x${'bb'.repeat(20)}`;
const STAKER = `0x${'cc'.repeat(20)}`;
const HASH = `0x${'01'.repeat(32)}`;

const BLOCK = {
  hash: HASH,
  miner: MINER,
  transactions: [{ from: SENDER.toUpperCase().replace('0X', '0x'), mint: '0x64' }],
  withdrawals: [{ address: STAKER, amount: '0x2' }],
};
const RECEIPT = {
  blockHash: HASH,
  gasUsed: '0x5208',
  effectiveGasPrice: '0x3',
  blobGasUsed: '0x10',
  blobGasPrice: '0x2',
  l1Fee: '0x7',
};

test('fees of gas, blobs and the parent chain are subtracted, withdrawals and mints are added', () => {
  const adjustments = new BalanceAdjustments(false);
  adjustments.add(BLOCK, [RECEIPT]);
  adjustments.add(BLOCK, [{ ...RECEIPT, blobGasUsed: undefined, l1Fee: null }]);
  assert.equal(adjustments.netOf(SENDER as `0x${string}`), 2n * (100n - 63_000n) - 32n - 7n);
  assert.equal(adjustments.netOf(STAKER as `0x${string}`), 4_000_000_000n);
  assert.deepEqual([...adjustments.senders()], [SENDER]);
  assert.equal(adjustments.isExempt(MINER as `0x${string}`), true);
  assert.equal(adjustments.isExempt(SENDER as `0x${string}`), false);
});

test('a mint that the index counts as a transfer is not added again', () => {
  const adjustments = new BalanceAdjustments(true);
  const [transaction] = BLOCK.transactions;
  adjustments.add({ ...BLOCK, withdrawals: [], transactions: [{ ...transaction, type: '0x7e' }] }, [RECEIPT]);
  const paid = adjustments.netOf(SENDER as `0x${string}`);
  adjustments.add(BLOCK, [RECEIPT]);
  assert.equal(
    adjustments.netOf(SENDER as `0x${string}`),
    2n * paid + 100n,
    'of another type it is no deposit',
  );
});

test('a block without a producer, without a list of withdrawals and with a receipt of no transaction is read', () => {
  const adjustments = new BalanceAdjustments(false);
  const hashes = ['02', '03'].map((byte) => `0x${byte.repeat(32)}`);
  const transactions = hashes.map((hash) => ({ ...BLOCK.transactions[0], mint: 100, hash }));
  const paid = hashes.map((transactionHash) => ({ ...RECEIPT, gasUsed: '21000', transactionHash }));
  const extra = { ...RECEIPT, transactionHash: `0x${'04'.repeat(32)}` };
  adjustments.add({ ...BLOCK, miner: null, withdrawals: null, transactions }, [paid[0], extra, paid[1]]);
  assert.equal(adjustments.netOf(SENDER as `0x${string}`), 2n * (100n - 63_000n - 32n - 7n));
});

test('blames the node for malformed or foreign blocks and receipts, however deep the defect', () => {
  const nested: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const add = (block: unknown, receipts: unknown) => () => new BalanceAdjustments(false).add(block, receipts);
  const malformed = { name: 'UpstreamError', reason: 'malformed' };
  assert.throws(add(nested, []), malformed);
  assert.throws(add({ ...BLOCK, miner: nested }, [RECEIPT]), malformed);
  assert.throws(add({ ...BLOCK, withdrawals: [{ address: STAKER, amount: '2x' }] }, [RECEIPT]), malformed);
  assert.throws(add(BLOCK, []), malformed);
  assert.throws(add(BLOCK, [{ ...RECEIPT, gasUsed: {} }]), malformed);
  assert.throws(add(BLOCK, [{ ...RECEIPT, blockHash: `0x${'02'.repeat(32)}` }]), { reason: 'inconsistent' });
});
