/** Commits of any size: they store the same rows, and one that is abandoned stores none. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { growthBatch, TRANSFERS_PER_BLOCK } from '../../scripts/bench/setup/growth-chain.ts';
import type { BlockBatch } from '../../src/model/block-batch.ts';
import { type Buckets, CommitTransfers, NATIVE } from '../../src/store/commit/commit-transfers.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { tempDir } from '../support/temp-dir.ts';

const BLOCKS = 100;

function openWriter(t: TestContext, name: string): { writer: IndexWriter; path: string } {
  const path = join(tempDir(t), name);
  const writer = new IndexWriter(path, { cacheMb: 8, pagesPerFold: 16 });
  t.after(() => writer.close());
  writer.setChain(1, 1);
  return { writer, path };
}

function batches(first: number, count: number): BlockBatch[] {
  return Array.from({ length: count }, (_, i) => growthBatch(first + i, 1));
}

test('a commit of any size stores the same rows: thousands of wallets, hot ones, new funders', (t) => {
  const one = openWriter(t, 'one.db');
  one.writer.append(batches(1, BLOCKS));
  const many = openWriter(t, 'many.db');
  for (let block = 1; block <= BLOCKS; block++) many.writer.append(batches(block, 1));
  const some = openWriter(t, 'some.db');
  for (let block = 1; block <= BLOCKS; block += 7)
    some.writer.append(batches(block, Math.min(7, BLOCKS + 1 - block)));
  const rows = dumpIndex(one.path);
  assert.ok(rows.filter((row) => row.startsWith('wallets ')).length > 3 * 1_024);
  assert.ok(rows.some((row) => row.startsWith('counterparty_sums ')));
  assert.deepEqual(dumpIndex(many.path), rows);
  assert.deepEqual(dumpIndex(some.path), rows);
});

test('an abandoned commit leaves the index as it was, wherever it was abandoned', (t) => {
  const { writer, path } = openWriter(t, 'index.db');
  writer.append(batches(1, 5));
  const before = dumpIndex(path);
  const next = batches(6, 8);
  const abandoned = new Error('abandoned');
  let steps = 0;
  for (let last = 0; ; last += 3) {
    let left = last;
    const onStep = () => {
      if (left-- === 0) throw abandoned;
    };
    try {
      writer.prepare(next, onStep);
      writer.append(next, onStep);
      steps = last;
      break;
    } catch (error) {
      assert.equal(error, abandoned);
      assert.deepEqual(dumpIndex(path), before);
    }
  }
  assert.ok(steps > 20, `${steps} steps`);
  const fresh = openWriter(t, 'fresh.db');
  fresh.writer.append(batches(1, 13));
  assert.deepEqual(dumpIndex(path), dumpIndex(fresh.path));
});

test('the sides of a commit are ordered by wallet, and by token and wallet', () => {
  const batch = growthBatch(1, 4);
  const transfers = new CommitTransfers([batch]);
  const slots = Uint32Array.from({ length: batch.addresses.length / 20 }, (_, slot) => slot);
  transfers.add(batch, slots);
  const byWallet = transfers.byWallet(slots.length);
  const sidesOf = (buckets: Buckets, bucket: number) => [
    ...buckets.sides.subarray(buckets.start(bucket), buckets.end(bucket)),
  ];
  let sides = 0;
  for (const slot of slots) {
    const own = sidesOf(byWallet, slot);
    sides += own.length;
    for (const side of own) assert.equal(transfers.walletOf(side), slot);
    assert.deepEqual(
      own,
      own.toSorted((a, b) => a - b),
    );
  }
  const toSelf = transfers.sender.filter((sender, at) => sender === transfers.receiver[at]).length;
  assert.equal(sides, 2 * 4 * TRANSFERS_PER_BLOCK - toSelf);

  const order = slots.toReversed();
  const byToken = transfers.byToken(slots.length, byWallet, order);
  let tokenSides = 0;
  for (const token of slots) {
    const own = sidesOf(byToken, token);
    tokenSides += own.length;
    for (const side of own) assert.equal(transfers.token[side >>> 1], token);
    const ranks = own.map((side) => order.indexOf(transfers.walletOf(side)));
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => a - b),
    );
  }
  const isToken = (side: number) => transfers.token[side >>> 1] !== NATIVE;
  assert.equal(tokenSides, [...byWallet.sides].filter(isToken).length);
});
