import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOT_TRACED } from '../../src/model/block-gap.ts';
import { type Capabilities, internalTransfers, traceGapsText } from '../../src/model/index-status.ts';

const TRACING: Capabilities = {
  client: 'node',
  chainId: 1,
  traces: 'trace_block',
  tracesReason: null,
  blockReceipts: true,
  headTag: 'latest',
};
const REFUSING: Capabilities = { ...TRACING, traces: null, tracesReason: 'trace_block: not supported' };
const HOLE = { first: 20, last: 39, blocks: 20, reasons: [{ reason: NOT_TRACED, blocks: 20 }] };
const HEAD = { number: 99, hash: `0x${'11'.repeat(32)}` } as const;

test('internal transfers are complete only with traces now and for every indexed block', () => {
  const told = (capabilities: Capabilities | null, untraced: typeof HOLE | null) =>
    Object.values(internalTransfers({ capabilities, untraced, head: HEAD }));
  const repair =
    'to add their internal transfers from a node that traces them, stop the daemon and run "atlas-node ' +
    'verify --repair 20..39", which indexes 80 blocks again';
  assert.deepEqual(told(null, null), [null, null]);
  assert.deepEqual(told(TRACING, null), [true, null]);
  assert.deepEqual(told(REFUSING, null), [false, 'trace_block: not supported']);
  assert.deepEqual(told({ ...REFUSING, tracesReason: null }, null), [false, 'the node offers no traces']);
  for (const capabilities of [TRACING, null])
    assert.deepEqual(told(capabilities, HOLE), [
      false,
      `blocks 20 to 39 were indexed without traces; ${repair}`,
    ]);
  assert.deepEqual(told(REFUSING, HOLE), [
    false,
    'trace_block: not supported; blocks 20 to 39 were indexed without traces',
  ]);
});

test('one block, a whole range and part of a range are distinguished', () => {
  const told = (first: number, last: number, blocks: number, reasons = HOLE.reasons) =>
    traceGapsText({ first, last, blocks, reasons });
  assert.equal(told(7, 7, 1), 'block 7 was indexed without traces');
  assert.equal(told(7, 9, 2), '2 of the blocks 7 to 9 were indexed without traces');
  assert.equal(told(7, 99, 30), '30 of the blocks 7 to 99 were indexed without traces');
  assert.equal(told(7, 7, 1, [{ reason: 'nonce', blocks: 1 }]), 'block 7 lacks internal transfers: nonce');
  assert.equal(
    told(7, 99, 5, [
      { reason: 'nonce', blocks: 3 },
      { reason: 'not found', blocks: 2 },
    ]),
    '5 of the blocks 7 to 99 lack internal transfers: nonce (3), not found (2)',
  );
});
