import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { traceGapRanges } from '../../src/store/trace-gaps.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

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
      const ranges = traceGapRanges(db);
      db.close();
      return ranges.map(({ first, last }) => [first, last]);
    },
  };
}

test('blocks without traces are one range as long as they follow each other, however they were committed', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  writer.append([batch(0, 4, true)]);
  assert.equal(writer.traceGaps(), null);
  writer.append([batch(5, 9, true), batch(10, 10, false), batch(11, 14, false)]);
  writer.append([batch(15, 19, false), batch(20, 24, true), batch(25, 25, false)]);
  assert.deepEqual(ranges(), [
    [10, 19],
    [25, 25],
  ]);
  assert.deepEqual(writer.traceGaps(), { first: 10, last: 25, blocks: 11 });
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
  assert.equal(writer.traceGaps(), null);
});

test('blocks found to be complete are removed, also from the middle of ranges', (t) => {
  const { writer, batch, ranges } = openIndex(t);
  writer.append([batch(0, 9, false), batch(10, 19, true), batch(20, 29, false), batch(30, 39, true)]);
  writer.setTraced({ first: 4, last: 3 });
  writer.setTraced({ first: 10, last: 19 });
  assert.deepEqual(ranges(), [
    [0, 9],
    [20, 29],
  ]);
  writer.setTraced({ first: 3, last: 5 });
  writer.setTraced({ first: 8, last: 20 });
  assert.deepEqual(ranges(), [
    [0, 2],
    [6, 7],
    [21, 29],
  ]);
  writer.setTraced({ first: 25, last: 29 });
  writer.setTraced({ first: 2, last: 3 });
  writer.setTraced({ first: 24, last: 24 });
  assert.deepEqual(ranges(), [
    [0, 1],
    [6, 7],
    [21, 23],
  ]);
  writer.setTraced({ first: 0, last: 39 });
  assert.equal(writer.traceGaps(), null);
});
