import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { prepareChainRates } from '../../src/query/block-times.ts';
import { prepareGrowthBase, prepareLastBlockUpTo } from '../../src/store/block-times.ts';
import { measureIndex } from '../../src/store/index-stats.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { migrate } from '../../src/store/migrations/migrations.ts';
import { timeFalls } from '../../src/store/migrations/time-falls.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { type PlainBlock, randomBlocks, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { differencesOf, verifyAlone } from '../support/index/verify.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = `0x${'00'.repeat(32)}`;
const START = 5;
const NOW = 1_790_000_000;
const YEAR_2100 = 4_102_444_800;

/** Blocks of these times, from START on or on top of others. */
function blocksOf(times: readonly number[], below: readonly PlainBlock[] = [], salt = 1): PlainBlock[] {
  const blocks = randomBlocks(START + below.length, times.length, below.at(-1)?.hash ?? ROOT, salt);
  return blocks.map((block, i) => ({ ...block, timestamp: times[i]! }));
}

function openWriter(t: TestContext): { path: string; writer: IndexWriter } {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, START);
  return { path, writer };
}

/** An index of one commit. */
function indexOf(t: TestContext, blocks: readonly PlainBlock[]): string {
  const { path, writer } = openWriter(t);
  if (blocks.length > 0) writer.append([toBatch(blocks)]);
  writer.close();
  return path;
}

/** A connection for the whole test. */
function reading(t: TestContext, path: string): Db {
  const db = openDatabase(path);
  t.after(() => db.close());
  return db;
}

/** The latest time up to and with each block. */
function maxima(times: readonly number[]): number[] {
  return times.map((_, i) => Math.max(...times.slice(0, i + 1)));
}

/** `[first, time]` of each fall. */
function falls(db: Db): unknown[] {
  return db.prepare('SELECT first, time FROM time_falls ORDER BY first').raw().all();
}

/** Compares the last block up to each of these times, and those beside them, with the definition. */
function compareSearch(db: Db, times: readonly number[]): void {
  const lastBlockUpTo = prepareLastBlockUpTo(db);
  const latest = maxima(times);
  const range = { startBlock: START, number: START + times.length - 1 };
  for (const time of new Set(times.flatMap((time) => [time - 1, time, time + 1]))) {
    const expected = START - 1 + latest.filter((maximum) => maximum <= time).length;
    assert.equal(lastBlockUpTo(range, time), expected, `up to ${time} of ${times}`);
  }
}

/** Times of one of several shapes. */
function randomTimes(count: number, random: () => number): number[] {
  const shape = Math.floor(random() * 5);
  const far = Math.floor(random() * count);
  return Array.from({ length: count }, (_, i) => {
    const noise = Math.floor(random() * 8);
    if (shape === 0) return NOW + 2 * i; // never falls
    if (shape === 1) return NOW + 2 * i - (random() < 0.3 ? noise : 0);
    if (shape === 2) return NOW + noise; // falls and repeats all the time
    if (shape === 3) return i === far ? YEAR_2100 : NOW + 2 * i;
    return i < far ? NOW - 3 * i : NOW + i; // falls at first
  });
}

for (let seed = 1; seed <= 12; seed++)
  test(`lookups by time and falls after commits and rollbacks equal the definition, seed ${seed}`, (t) => {
    const random = randomSource(seed * 7919);
    const int = (below: number) => Math.floor(random() * below);
    const { path, writer } = openWriter(t);
    const db = reading(t, path);
    let blocks: PlainBlock[] = [];
    for (let step = 0; step < 8; step++) {
      const added = blocksOf(randomTimes(1 + int(20), random), blocks, step);
      for (let at = 0; at < added.length; ) {
        const size = 1 + int(9);
        const cut = at + int(size);
        writer.append(
          [added.slice(at, cut), added.slice(cut, at + size)]
            .filter((s) => s.length > 0)
            .map((s) => toBatch(s)),
        );
        at += size;
      }
      blocks = [...blocks, ...added];
      if (int(2) === 0) {
        blocks = blocks.slice(0, int(blocks.length + 1));
        writer.rollback(START - 1 + blocks.length);
      }
      compareSearch(
        db,
        blocks.map(({ timestamp }) => timestamp),
      );
    }
    writer.close();
    const fresh = indexOf(t, blocks);
    assert.deepEqual(dumpIndex(path), dumpIndex(fresh), 'equals an index of one commit');
    const migrated = join(tempDir(t), 'index.db');
    copyFileSync(fresh, migrated);
    const old = reading(t, migrated);
    old.exec('DROP TABLE time_falls');
    old.pragma(`user_version = ${timeFalls().version - 1}`);
    const progress: number[] = [];
    for (let isDone = false; !isDone; ) {
      const steps = migrate(old, [timeFalls(1 + int(12))]);
      const { value, done } = steps.next();
      steps.return();
      if (value) progress.push(value.done);
      isDone = done === true;
    }
    assert.ok(progress.at(-1) === 1 && progress.length >= 2, `${progress}`);
    assert.deepEqual(falls(old), falls(reading(t, fresh)), 'equals a migrated index');
  });

test('a fall has one row for each latest time, and no other block has any', (t) => {
  const rowsOf = (times: number[]) => falls(reading(t, indexOf(t, blocksOf(times))));
  assert.deepEqual(rowsOf([10, 20, 20, 30]), []);
  assert.deepEqual(rowsOf([30, 20, 10]), [[START + 1, 30]]);
  assert.deepEqual(rowsOf([10, 9, 10, 9, 10, 8, 11, 10]), [
    [START + 1, 10],
    [START + 7, 11],
  ]);
  assert.deepEqual(rowsOf([10, YEAR_2100, 11, 12, 13]), [[START + 2, YEAR_2100]]);
});

test('a repair that reads the same blocks with other times again, and one that reads the same', (t) => {
  const { path, writer } = openWriter(t);
  const db = reading(t, path);
  const wrong = blocksOf([10, 90, 11, 12]);
  writer.append([toBatch(wrong)]);
  assert.deepEqual(falls(db), [[START + 2, 90]]);
  const right = wrong.map((block, i) => (i === 1 ? { ...block, timestamp: 11 } : block));
  for (const again of [right, wrong]) {
    while (!writer.rollbackStep(START, { number: null }));
    assert.deepEqual(falls(db), []);
    writer.append([toBatch(again.slice(1))]);
    compareSearch(
      db,
      again.map(({ timestamp }) => timestamp),
    );
  }
  writer.close();
});

test('rates and growth outlive blocks of the far future, and of the past', (t) => {
  const minutes = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => NOW + 60 * (from + i));
  const healthy = minutes(0, 121);
  const at = (index: number, time: number) => healthy.map((own, i) => (i === index ? time : own));
  const baseOf = (times: readonly number[]) => {
    const db = reading(t, indexOf(t, blocksOf(times)));
    const head = { startBlock: START, number: START + times.length - 1, timestamp: times.at(-1)! };
    const { block, seconds } = prepareGrowthBase(db)(head, 3_600);
    return [block - START, seconds];
  };
  assert.deepEqual(baseOf(healthy), [60, 3_600]);
  assert.deepEqual(baseOf(at(90, YEAR_2100)), [60, 3_600], 'within the hour');
  assert.deepEqual(baseOf(at(40, YEAR_2100)), [39, 81 * 60], 'before it: since then');
  assert.deepEqual(baseOf(at(60, 0)), [60, 3_660], 'the base is early');
  assert.deepEqual(baseOf(at(120, NOW + 60 * 118)), [58, 3_600], 'the head is early');
  assert.deepEqual(
    baseOf(at(0, YEAR_2100)).map((value) => value <= 0),
    [true, true],
    'the first block is late',
  );

  const late = indexOf(t, blocksOf(at(40, YEAR_2100)));
  const db = reading(t, late);
  const count = db
    .prepare<[number], number>(
      'SELECT count(*) FROM transfers WHERE id > (SELECT last_transfer FROM blocks WHERE number = ?)',
    )
    .pluck();
  const expected = Math.round(((count.get(START + 39) ?? 0) / 81) * 100) / 100;
  const head = { startBlock: START, number: START + 120, timestamp: healthy.at(-1)! };
  assert.equal(prepareChainRates(db)(head, 3_600).transfers, expected);
  assert.equal(measureIndex(db, late).growth?.seconds, 120 * 60);
});

test('verify names the blocks where the stored falls differ, and finds a row too many', async (t) => {
  const path = indexOf(t, blocksOf([10, 9, 20, 18, 21]));
  const db = reading(t, path);
  const differences = async (sql: string) => {
    db.exec(`SAVEPOINT damage; ${sql}; RELEASE damage`);
    const found = differencesOf(await verifyAlone(path));
    db.exec('DELETE FROM time_falls');
    db.exec(`INSERT INTO time_falls VALUES (${START + 1}, 10), (${START + 3}, 20)`);
    return found;
  };
  assert.deepEqual(await differences('SELECT 1'), []);
  assert.deepEqual(await differences('UPDATE time_falls SET time = 19 WHERE time = 20'), [
    `blocks: the time before block ${START + 3} is 19 in the index, must be 20`,
  ]);
  assert.deepEqual(await differences(`DELETE FROM time_falls WHERE time = 10`), [
    `blocks: the time before block ${START + 1} is null in the index, must be 10`,
    'blocks: the number of blocks where time falls is 1 in the index, must be 2',
  ]);
  assert.deepEqual(await differences(`INSERT INTO time_falls VALUES (${START + 4}, 20)`), [
    'blocks: the number of blocks where time falls is 3 in the index, must be 2',
  ]);
});
