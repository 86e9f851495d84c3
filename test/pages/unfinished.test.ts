import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unfinishedText } from '../../src/pages/explorer/unfinished.ts';

const HEAD = { number: 1_200, hash: `0x${'ab'.repeat(32)}` };

test('a page that found nothing says how far the index is, unless it follows the chain', () => {
  const full = { head: HEAD, nodeHead: 50_000, etaSeconds: 190 };
  assert.equal(
    unfinishedText({ phase: 'backfilling', ...full }),
    'The index is still catching up: it is at block 1,200 of 50,000, 3 min 10 s to go.',
  );
  assert.equal(
    unfinishedText({ phase: 'backfilling', ...full, etaSeconds: null }),
    'The index is still catching up: it is at block 1,200 of 50,000.',
  );
  assert.equal(
    unfinishedText({ phase: 'paused', ...full }),
    'The index ends at block 1,200 of 50,000 and does not grow at present.',
  );
  assert.equal(
    unfinishedText({ phase: 'paused', ...full, nodeHead: null }),
    'The index ends at block 1,200 and does not grow at present.',
  );
  assert.equal(
    unfinishedText({ phase: 'starting', head: null, nodeHead: null, etaSeconds: null }),
    'No block is indexed yet.',
  );
  assert.equal(unfinishedText({ phase: 'following', ...full }), null);
  assert.equal(unfinishedText({ phase: 'following', ...full, head: null }), null);
});
