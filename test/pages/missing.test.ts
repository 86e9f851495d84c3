import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gapRowsText, missingTexts } from '../../src/pages/explorer/missing.ts';
import { unfinishedText } from '../../src/pages/explorer/unfinished.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { statusAt } from '../server/serving.ts';

const HEAD = { number: 1_200, hash: `0x${'ab'.repeat(32)}` };
const FULL = { head: HEAD, nodeHead: 50_000, etaSeconds: 190, reason: null, staleReason: null };
const NONE = { head: null, nodeHead: null, etaSeconds: null, reason: null, staleReason: null };

test('each page says how far the index is and why it stands still, unless it follows the chain', () => {
  assert.equal(
    unfinishedText({ phase: 'backfilling', ...FULL }),
    'The index is still catching up: it is at block 1,200 of 50,000, 3 min 10 s to go.',
  );
  assert.equal(
    unfinishedText({ phase: 'backfilling', ...FULL, etaSeconds: null }),
    'The index is still catching up: it is at block 1,200 of 50,000.',
  );
  assert.equal(
    unfinishedText({ phase: 'backfilling', ...FULL, reason: 'the node does not answer' }),
    'The index ends at block 1,200 of 50,000 and does not grow at present: the node does not answer.',
  );
  assert.equal(
    unfinishedText({ phase: 'paused', ...FULL }),
    'The index ends at block 1,200 of 50,000 and does not grow at present.',
  );
  assert.equal(
    unfinishedText({ phase: 'paused', ...FULL, nodeHead: null, reason: 'the node is on another chain' }),
    'The index ends at block 1,200 and does not grow at present: the node is on another chain.',
  );
  assert.equal(unfinishedText({ phase: 'starting', ...NONE }), 'No block is indexed yet.');
  assert.equal(
    unfinishedText({ phase: 'starting', ...FULL, nodeHead: null }),
    'The server has just started: the index ends at block 1,200 until it has found its node.',
  );
  assert.equal(
    unfinishedText({ phase: 'paused', ...NONE, reason: 'the node has no block 9' }),
    'No block is indexed yet: the node has no block 9.',
  );
  assert.equal(unfinishedText({ phase: 'following', ...FULL }), null);
  assert.equal(unfinishedText({ phase: 'following', ...FULL, head: null }), null);
  assert.equal(
    unfinishedText({ phase: 'following', ...FULL, staleReason: 'the chain is stale' }),
    'The chain is stale.',
  );
});

test('each page says what the figures of the index lack', () => {
  const state = statusAt(40);
  const capabilities = {
    client: 'anvil',
    chainId: 31_337,
    traces: 'trace_block',
    tracesReason: null,
    blockReceipts: true,
    headTag: 'latest',
  } as const;
  const gap = { first: 5, last: 12, blocks: 8, reasons: [{ reason: 'pruned', blocks: 8 }] };
  const texts = (changes: Partial<typeof state>) =>
    missingTexts(describeStatus({ ...state, capabilities, ...changes }, 0, Date.now()));
  assert.deepEqual(texts({}), []);
  assert.deepEqual(texts({ untraced: gap }), ['Internal transfers are missing in blocks 5 to 12.']);
  assert.deepEqual(texts({ untraced: { ...gap, last: 20, blocks: 1_000 } }).length, 1);
  assert.deepEqual(texts({ untraced: { ...gap, last: 20 } }), [
    'Internal transfers are missing in 8 of the blocks 5 to 20.',
  ]);
  assert.deepEqual(texts({ logGaps: { ...gap, last: 5, blocks: 1 } }), [
    'Transfers are missing in block 5: the node did not give all logs.',
  ]);
  const none = 'Internal transfers, those by contracts, are missing since the node gives no traces.';
  const untraced = { ...capabilities, traces: null, tracesReason: 'index.traces is false' };
  assert.deepEqual(texts({ capabilities: untraced }), [none]);
  assert.deepEqual(texts({ capabilities: untraced, untraced: { ...gap, last: 40, blocks: 36 } }), [none]);
  assert.deepEqual(texts({ capabilities: untraced, untraced: gap }).length, 2);
  assert.match(texts({ nodeChain: 'another_chain' }).join(), /is of its chain, not of that of the index/);
  assert.match(texts({ readFailure: 'index.db is damaged' }).join(), /cannot be read/);
  const derived = [{ name: 'token_history', lastTransfer: 30 } as const];
  assert.match(texts({ transfers: 90, derived }).join(), /33 % are done/);
  assert.match(texts({ transfers: 0, derived }).join(), /100 % are done/);
});

test('a list with transfers of blocks that are not complete says so', () => {
  const row = (blockNumber: number, uncertain?: true) => ({ blockNumber, uncertain });
  assert.equal(gapRowsText([row(1), row(2)]), null);
  assert.match(
    gapRowsText([row(1), row(9, true), row(9, true)]) ?? '',
    /^Other transfers of block 9 may be missing/,
  );
  assert.match(gapRowsText([row(8, true), row(9, true)]) ?? '', /of 2 of these blocks may be missing/);
});
