import assert from 'node:assert/strict';
import { test } from 'node:test';
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
const HOLE = { first: 20, last: 39, blocks: 20 };

test('internal transfers are complete only with traces now and for every indexed block', () => {
  const told = (capabilities: Capabilities | null, untraced: typeof HOLE | null) =>
    Object.values(internalTransfers({ capabilities, untraced }));
  const repair =
    'to add their internal transfers, stop the daemon and run "atlas-node verify --repair 20..39"';
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
  assert.equal(traceGapsText({ first: 7, last: 7, blocks: 1 }), 'block 7 was indexed without traces');
  assert.equal(
    traceGapsText({ first: 7, last: 9, blocks: 2 }),
    '2 of the blocks 7 to 9 were indexed without traces',
  );
  assert.equal(
    traceGapsText({ first: 7, last: 99, blocks: 30 }),
    '30 of the blocks 7 to 99 were indexed without traces',
  );
});
