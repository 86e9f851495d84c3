/** How the index records its rewrites. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { currentMark, type Rewrites, rewrittenSince } from '../../src/model/rewrites.ts';
import { prepareRewrites } from '../../src/store/rewrites.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';

const BLOCKS = 20;

function grown(t: TestContext): { index: IndexFixture; rewrites: () => Rewrites } {
  const index = createIndex(t, 1);
  index.append(Array.from({ length: BLOCKS }, (_, i) => ({ [`tx ${i}`]: [{ from: 'alice', to: 'bob' }] })));
  return { index, rewrites: prepareRewrites(index.reader(t)) };
}

const blockOf = (name: string) => ({ [name]: [{ from: 'alice', to: 'carol' }] });

test('a rewrite is recorded with the removal of its blocks, a reorg is not', (t) => {
  const { index, rewrites } = grown(t);
  index.writer.rollback(18);
  assert.deepEqual(rewrites(), []);
  index.writer.rollbackStep(14, { number: null });
  const [{ token, ...rewrite } = { token: 0 }] = rewrites();
  assert.deepEqual(rewrite, { number: 1, first: 15, lowest: 15, highest: 18 });
  assert.ok(token >= 0 && token < 2 ** 32);
});

test('a rewrite in several steps has a mark for each, and is one rewrite in the end', (t) => {
  const { index, rewrites } = grown(t);
  const open = { number: null };
  index.writer.rollbackStep(17, open);
  const halfway = currentMark(rewrites());
  index.writer.rollbackStep(9, open);
  assert.equal(rewrites().length, 1);
  assert.equal(rewrittenSince(rewrites(), halfway), 10, 'who read in between reads again');
  index.rewrite(6, [blockOf('later')]);
  assert.deepEqual(
    rewrites().map(({ first }) => first),
    [10, 6],
  );
});

test('many rewrites do not grow the table for ever, and the lowest block is kept', (t) => {
  const { index, rewrites } = grown(t);
  index.rewrite(3, [blockOf('first')]);
  const old = currentMark(rewrites());
  for (let i = 0; i < 200; i++) index.rewrite(4, [blockOf(`again ${i}`)]);
  assert.equal(rewrites().length, 64);
  assert.equal(rewrites().at(-1)?.number, 200);
  assert.equal(rewrittenSince(rewrites(), old), 3);
});

test('two copies of an index that are repaired apart have other marks', (t) => {
  const [one, other] = [grown(t), grown(t)];
  for (const { index } of [one, other]) index.rewrite(12, [blockOf('a')]);
  assert.notEqual(currentMark(one.rewrites()), currentMark(other.rewrites()));
  assert.equal(rewrittenSince(one.rewrites(), currentMark(other.rewrites())), 12);
});
