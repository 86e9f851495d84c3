import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type BlockGap, type GapKind, NOT_TRACED } from '../../src/model/block-gap.ts';
import { readGaps } from '../../src/store/block-gaps.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

const LOST = { blocks: 1, reasons: [{ reason: 'lost', blocks: 1 }] };
const BLOCKS = randomBlocks(0, 60, `0x${'00'.repeat(32)}`, 3);

function openIndex(t: TestContext) {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 0);
  return {
    writer,
    /** A batch of blocks that follow the head, up to and including `last`. */
    batch(first: number, last: number, traced: boolean) {
      return toBatch(BLOCKS.slice(first, last + 1), traced);
    },
    ranges(): number[][] {
      const db = openIndexForReading(path);
      const ranges = readGaps(db, 'trace');
      db.close();
      return ranges.map(({ first, last }) => [first, last]);
    },
  };
}

test('blocks without traces are one range as long as they follow each other, however they were committed', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  writer.append([batch(0, 4, true)]);
  assert.equal(writer.gaps('trace'), null);
  writer.append([batch(5, 9, true), batch(10, 10, false), batch(11, 14, false)]);
  writer.append([batch(15, 19, false), batch(20, 24, true), batch(25, 25, false)]);
  assert.deepEqual(ranges(), [
    [10, 19],
    [25, 25],
  ]);
  assert.deepEqual(writer.gaps('trace'), {
    first: 10,
    last: 25,
    blocks: 11,
    reasons: [{ reason: NOT_TRACED, blocks: 11 }],
  });
});

test('a rollback removes gaps from the end, and they grow again from there', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  writer.append([batch(0, 9, false), batch(10, 19, true), batch(20, 29, false)]);
  writer.rollback(24);
  assert.deepEqual(ranges(), [
    [0, 9],
    [20, 24],
  ]);
  writer.append([batch(25, 27, false)]);
  assert.deepEqual(ranges(), [
    [0, 9],
    [20, 27],
  ]);
  writer.rollback(20);
  assert.deepEqual(ranges(), [
    [0, 9],
    [20, 20],
  ]);
  writer.rollback(19);
  writer.append([batch(20, 29, true)]);
  assert.deepEqual(ranges(), [[0, 9]]);
  writer.rollback(-1);
  assert.equal(writer.gaps('trace'), null);
});

test('blocks found to be complete are removed, also from the middle of ranges', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  writer.append([batch(0, 9, false), batch(10, 19, true), batch(20, 29, false), batch(30, 39, true)]);
  writer.setComplete('trace', { first: 4, last: 3 });
  writer.setComplete('trace', { first: 10, last: 19 });
  assert.deepEqual(ranges(), [
    [0, 9],
    [20, 29],
  ]);
  writer.setComplete('trace', { first: 3, last: 5 });
  writer.setComplete('trace', { first: 8, last: 20 });
  assert.deepEqual(ranges(), [
    [0, 2],
    [6, 7],
    [21, 29],
  ]);
  writer.setComplete('trace', { first: 25, last: 29 });
  writer.setComplete('trace', { first: 2, last: 3 });
  writer.setComplete('trace', { first: 24, last: 24 });
  assert.deepEqual(ranges(), [
    [0, 1],
    [6, 7],
    [21, 23],
  ]);
  writer.setComplete('trace', { first: 0, last: 39 });
  assert.equal(writer.gaps('trace'), null);
});

test('gaps of one kind join only with the same reason, and those of another kind are separate', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  const gap = (kind: GapKind, block: number, reason: string) => ({ kind, first: block, last: block, reason });
  const withGaps = (first: number, last: number, gaps: BlockGap[]) => ({ ...batch(first, last, true), gaps });
  writer.append([withGaps(0, 9, [gap('trace', 4, 'one'), gap('trace', 5, 'one'), gap('log', 5, 'lost')])]);
  writer.append([withGaps(10, 19, [gap('trace', 10, 'one'), gap('trace', 11, 'two')])]);
  assert.deepEqual(ranges(), [
    [4, 5],
    [10, 10],
    [11, 11],
  ]);
  assert.deepEqual(writer.gaps('log'), { ...LOST, first: 5, last: 5 });
  assert.deepEqual(writer.gaps('trace')?.reasons, [
    { reason: 'one', blocks: 3 },
    { reason: 'two', blocks: 1 },
  ]);
  writer.setComplete('trace', { first: 5, last: 10 });
  assert.deepEqual(ranges(), [
    [4, 4],
    [11, 11],
  ]);
  writer.rollback(5);
  assert.deepEqual(writer.gaps('log'), { ...LOST, first: 5, last: 5 });
  writer.rollback(4);
  assert.equal(writer.gaps('log'), null);
  assert.deepEqual(ranges(), [[4, 4]]);
});
