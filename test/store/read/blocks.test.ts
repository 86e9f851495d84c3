import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { prepareLastBlock } from '../../../src/store/chain.ts';
import { blockFinder, prepareBlocks } from '../../../src/store/read/blocks.ts';
import { DamageError } from '../../../src/store/storage-error.ts';
import { createIndex, type NamedBlock } from '../../support/index/index-fixture.ts';

/** An index of 600 blocks, more than one read takes; each third one has no transfer, the others have two. */
function createBlocks(t: TestContext) {
  const index = createIndex(t);
  const blocks = Array.from(
    { length: 600 },
    (_, i): NamedBlock =>
      i % 3 === 0
        ? {}
        : {
            [`transaction ${i}`]: [
              { from: 'a', to: 'b' },
              { from: 'b', to: 'a' },
            ],
          },
  );
  index.append(blocks);
  const db = index.reader(t);
  const first = db.prepare<[], number>('SELECT min(number) FROM blocks').pluck().get() ?? 0;
  return { db, first, last: first + 599 };
}

test('a range of blocks is whole, and equals single reads', (t) => {
  const { db, first, last } = createBlocks(t);
  const blocks = prepareBlocks(db);
  const lastBlock = prepareLastBlock(db);
  const all = [...blocks.range(first, last)];
  assert.deepEqual(
    all,
    Array.from({ length: 600 }, (_, i) => lastBlock(first + i)),
  );
  assert.deepEqual(blocks.at(first + 300), all[300]);
  assert.equal(blocks.at(last + 1), undefined);
  assert.deepEqual([...blocks.range(last, last + 5)], all.slice(-1));
});

test('each transfer finds its block, empty blocks between them', (t) => {
  const { db, first, last } = createBlocks(t);
  const blocks = prepareBlocks(db);
  const blockOf = blockFinder(blocks.range(first, last));
  const ids = Array.from({ length: 800 }, (_, i) => i + 1);
  const wanted = ids.map((id) => {
    const i = Math.floor((id - 1) / 2);
    return first + Math.floor(i / 2) * 3 + 1 + (i % 2);
  });
  assert.deepEqual(
    ids.map((id) => blockOf(id).number),
    wanted,
  );
  assert.deepEqual(
    blocks.of([5, 1, 800]).map(({ number }) => number),
    [wanted[4], wanted[0], wanted[799]],
  );
});

test('a transfer after the last block is damage', (t) => {
  const { db, first } = createBlocks(t);
  const blocks = prepareBlocks(db);
  assert.throws(() => blocks.of([801]), new DamageError('a transfer belongs to no block'));
  assert.throws(
    () => blockFinder(blocks.range(first, first))(1),
    new DamageError('transfer 1 belongs to no block'),
  );
});
