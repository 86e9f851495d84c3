/** Which blocks are final. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Hex } from '../../src/lib/hex.ts';
import type { BlockRef } from '../../src/model/block.ts';
import {
  afterPoll,
  blocksToPoll,
  finalInIndex,
  finalNow,
  headTagFor,
  highestBeyondReorg,
  isFinal,
  isProvenFinal,
  type NodeFinality,
  pollFrom,
  reorgRefusal,
} from '../../src/model/finality.ts';

const block = (number: number, branch = 'a'): BlockRef => ({
  number,
  hash: `0x${branch}${number.toString(16).padStart(63, '0')}`,
});

/** An index of blocks up to `head`, all of branch `a`. */
const indexUpTo =
  (head: number) =>
  (number: number): Hex | null =>
    number <= head ? block(number).hash : null;

test('no block is final while none is known to be', () => {
  assert.equal(isFinal(0, null), false);
  assert.equal(isFinal(0, -1), false);
  assert.equal(isFinal(7, 7), true);
  assert.equal(isFinal(8, 7), false);
});

test('only Monad is followed at its final head unless the operator chooses', () => {
  assert.equal(headTagFor('auto', 'Monad/0.16.0'), 'finalized');
  assert.equal(headTagFor('auto', 'Geth/v1.16'), 'latest');
  assert.equal(headTagFor('latest', 'Monad/0.16.0'), 'latest');
  assert.equal(headTagFor('finalized', 'Geth/v1.16'), 'finalized');
});

test('a reorg may remove at most max_reorg blocks and no final one', () => {
  const limits = { headTag: 'latest', finalized: 90, maxReorg: 8 } as const;
  assert.equal(reorgRefusal(limits, { to: 92, height: 100 }), null);
  assert.equal(reorgRefusal(limits, { to: 91, height: 100 }), 'reorg_too_deep');
  assert.equal(reorgRefusal({ ...limits, maxReorg: 20 }, { to: 90, height: 100 }), null);
  assert.equal(reorgRefusal({ ...limits, maxReorg: 20 }, { to: 89, height: 100 }), 'reorg_below_finalized');
  assert.equal(
    reorgRefusal({ ...limits, headTag: 'finalized' }, { to: 99, height: 100 }),
    'reorg_below_finalized',
  );
});

test('no reorg reaches the final block, nor blocks max_reorg below the head', () => {
  assert.equal(highestBeyondReorg({ finalized: 95, head: 100, maxReorg: 8 }), 95);
  assert.equal(highestBeyondReorg({ finalized: null, head: 100, maxReorg: 8 }), 92);
  assert.equal(highestBeyondReorg({ finalized: null, head: 3, maxReorg: 8 }), -1);
});

test('the anchor is the final block of the node if the index has it', () => {
  const poll = (final: BlockRef | null) => pollFrom([final, block(10)], true);
  assert.equal(finalInIndex(poll(block(6)), block(10), indexUpTo(10)), 6);
  assert.equal(finalInIndex(poll(block(6, 'b')), block(10), indexUpTo(10)), null);
  assert.equal(finalInIndex(poll(null), block(10), indexUpTo(10)), null);
});

test('the last block of an index below the final block is final if one node has both', () => {
  const head = block(10);
  assert.equal(finalInIndex(pollFrom([block(20), head], true), head, indexUpTo(10)), 10);
  assert.equal(finalInIndex(pollFrom([block(20), head], false), head, indexUpTo(10)), null);
  assert.equal(finalInIndex(pollFrom([block(20), block(10, 'b')], true), head, indexUpTo(10)), null);
  assert.equal(finalInIndex(pollFrom([block(20), null], true), head, indexUpTo(10)), null);
  assert.equal(finalInIndex(pollFrom([block(20), head], true), head, indexUpTo(9)), null, 'rolled back');
});

test('the final block of the node rises while the node keeps the last one', () => {
  const state: NodeFinality = { kind: 'confirmed', anchor: block(7), at: 0 };
  assert.deepEqual(blocksToPoll(null), ['finalized']);
  assert.deepEqual(blocksToPoll(block(7)), ['finalized', 7]);
  const after = (final: BlockRef | null, atKnown: BlockRef | null) =>
    afterPoll(state, pollFrom([final, atKnown], true), 5);
  assert.deepEqual(after(block(9), block(7)), { kind: 'confirmed', anchor: block(9), at: 5 });
  assert.deepEqual(after(block(5), block(7)), { kind: 'confirmed', anchor: block(7), at: 5 });
  assert.equal(after(block(9), null), 'unclear');
  assert.equal(after(block(9), block(7, 'b')), 'replaced');
  assert.equal(after(null, block(7)), 'none');
});

test('a confirmed block counts as final for ten seconds', () => {
  const state: NodeFinality = { kind: 'confirmed', anchor: block(7), at: 1_000 };
  assert.deepEqual(finalNow(state, 1_000), { block: 7, isDue: false });
  assert.deepEqual(finalNow(state, 11_000), { block: 7, isDue: true });
  assert.deepEqual(finalNow(state, 11_001), { block: -1, isDue: true });
  assert.deepEqual(finalNow({ kind: 'unconfirmed', anchor: block(7) }, 0), { block: -1, isDue: true });
});

test('an answer is final only if the node that gave it calls its block final too', () => {
  assert.equal(isProvenFinal(7, 9, block(8)), true);
  assert.equal(isProvenFinal(7, 9, block(6)), false);
  assert.equal(isProvenFinal(7, 6, block(8)), false);
  assert.equal(isProvenFinal(7, 9, null), false);
});

test('no other file compares a block with the final one, or the followed head with a tag', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url));
  const rules =
    /(?<!=)[<>]=? *[\w.]*finali[sz]ed\b|\bfinali[sz]ed\w*(\(\))? *[<>+-]|headTag [=!]== 'finalized'/i;
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && file !== join('model', 'finality.ts'))
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        .filter((line) => rules.test(line) && !/^\s*(\*|\/[/*])/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});
