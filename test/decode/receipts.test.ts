/** Receipts in another order than the transactions, and those that are there twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRANSFER } from '../../src/decode/logs.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { A, B, blockOf, C, decode, PLAIN_RULES, rowsOf, TOKEN, topicOf, word } from './plain.ts';

type Members = Record<string, unknown>;

const ZERO = `0x${'0'.repeat(40)}`;

/** Three transactions, each with a log of so many units, and their receipts. */
function three(): { block: unknown; receipts: Members[]; traces: null } {
  const parts = [1, 2, 3].map((units) => {
    const topics = [TRANSFER, topicOf(A), topicOf(B)];
    const { block, receipts } = blockOf({ logs: [{ topics, data: `0x${word(units)}` }] });
    const hash = `0x${`7${units}`.repeat(32)}`;
    const [tx] = (block as { transactions: Members[] }).transactions;
    const [receipt] = receipts as [Members & { logs: Members[] }];
    const logs = receipt.logs.map((log) => ({ ...log, logIndex: `0x${units - 1}` }));
    const transactionIndex = units - 1;
    return {
      block,
      tx: { ...tx, hash },
      receipt: { ...receipt, transactionHash: hash, transactionIndex, logs },
    };
  });
  const block = { ...(parts[0]?.block as Members), transactions: parts.map(({ tx }) => tx) };
  return { block, receipts: parts.map(({ receipt }) => receipt), traces: null };
}

test('receipts are read in any order, and those that are there twice once', () => {
  const { block, receipts } = three();
  const [first, second, third] = receipts as [Members, Members, Members];
  const checked = { ...PLAIN_RULES, tolerance: {} };
  const read = (list: Members[], of = block) => decode({ block: of, receipts: list, traces: null }, checked);
  const usual = read(receipts);
  assert.deepEqual(
    rowsOf(usual).map(({ amount, logIndex }) => [amount, logIndex]),
    [1n, 2n, 3n].map((units) => [units, Number(units) - 1]),
  );
  for (const list of [
    [third, second, first],
    [second, third, first],
    [first, second, third, third],
    [first, first, second, second, third, third],
    [third, first, second, { ...first }],
  ])
    assert.deepEqual(read(list), usual);
  const unnumbered = structuredClone(receipts) as (Members & { logs: Members[] })[];
  for (const { logs } of unnumbered) for (const log of logs) delete log['logIndex'];
  assert.deepEqual(read(unnumbered), usual, 'logs without numbers have those of their places');
  const other = { ...second, transactionHash: `0x${'99'.repeat(32)}` };
  for (const list of [
    [first, first, second],
    [first, other, third],
    [first, second, third, { ...third, gasUsed: '0x1' }],
    [first, other, third, second, { ...other, gasUsed: '0x1' }],
    [first, second],
    [third, second, { ...first, transactionIndex: null }],
  ])
    assert.throws(() => read(list), /UpstreamError|IncompleteBlockError/);
  const { transactions } = block as { transactions: Members[] };
  const swapped = { ...(block as Members), transactions: [...transactions].reverse() };
  assert.throws(() => read(receipts, swapped), /another order than its transactions/);
});

test('a receipt without a transaction is found among others in any order', () => {
  const { block, receipts } = three();
  const [first, second, third] = receipts as [Members, Members, Members];
  const hash = `0x${'5c'.repeat(32)}`;
  const topics = [TRANSFER, topicOf(ZERO), topicOf(C)];
  const extra = {
    ...first,
    transactionHash: hash,
    gasUsed: '0x0',
    logs: [{ address: TOKEN, topics, data: `0x${word(9)}` }],
  };
  const amounts = (list: Members[]) =>
    rowsOf(decode({ block, receipts: list, traces: null })).map(({ amount }) => amount);
  assert.deepEqual(amounts([first, second, third, extra]), [1n, 2n, 3n, 9n]);
  assert.deepEqual(amounts([third, second, first, extra]), [1n, 2n, 3n, 9n]);
  assert.deepEqual(amounts([extra, third, second, first]), [9n, 1n, 2n, 3n]);
  const another = {
    ...extra,
    transactionHash: `0x${'5d'.repeat(32)}`,
    logs: [{ address: TOKEN, topics, data: `0x${word(8)}` }],
  };
  assert.deepEqual(amounts([first, another, second, third, extra]), [1n, 8n, 2n, 3n, 9n], 'two of them');
  assert.throws(
    () => decode({ block, receipts: [extra, first, second, { ...another, gasUsed: '0x1' }], traces: null }),
    UpstreamError,
    'beside a missing one',
  );
  const frames = three().receipts.map(({ transactionHash }) => transactionHash);
  const traces = [...frames, extra.transactionHash, another.transactionHash].map((txHash) => ({
    txHash,
    result: { type: 'CALL', from: A, to: B, value: '0x0' },
  }));
  const traced = decode({
    block,
    receipts: [first, second, third, extra, another],
    traces: { form: 'tree', value: traces },
  });
  assert.equal(traced.transferCount, 5, 'their traces are left out');
});
