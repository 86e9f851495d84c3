import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FatalError } from '../../src/lib/errors.ts';
import type { BlockBatch } from '../../src/model/block-batch.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { MAX_FIRST_BUYERS } from '../../src/store/schema.ts';
import { prepareBuyersOf } from '../../src/store/tokens/first-buyers.ts';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { ZONE_SPAN } from '../../src/store/zone-map.ts';
import { type PlainBlock, randomBlocks, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = `0x${'00'.repeat(32)}`;

function openWriter(path: string): IndexWriter {
  const writer = new IndexWriter(path, { cacheMb: 8, pagesPerFold: 1 });
  if (writer.chain() === null) writer.setChain(1, 1);
  return writer;
}

/** Some stretches of every chain here are read without traces. */
function isTraced({ number }: PlainBlock): boolean {
  return Math.floor(number / 9) % 3 !== 1;
}

/** The first of these blocks that make a batch: at most `size`, all with traces or all without. */
function batchOf(blocks: readonly PlainBlock[], size: number): BlockBatch {
  const traced = isTraced(blocks[0]!);
  const end = blocks.slice(0, size).findIndex((block) => isTraced(block) !== traced);
  return toBatch(blocks.slice(0, end < 0 ? size : end), traced);
}

/** Appends the blocks in commits of random size, each with one or more batches. */
function appendAll(writer: IndexWriter, blocks: readonly PlainBlock[], random: () => number): void {
  for (let at = 0; at < blocks.length; ) {
    const batches = [];
    for (let n = 1 + Math.floor(random() * 3); n > 0 && at < blocks.length; n--) {
      const batch = batchOf(blocks.slice(at), 1 + Math.floor(random() * 12));
      batches.push(batch);
      at += batch.blockCount;
    }
    writer.append(batches);
  }
}

function freshDump(path: string, blocks: readonly PlainBlock[]): string[] {
  const writer = openWriter(path);
  const batches = [];
  for (let at = 0; at < blocks.length; at += batches.at(-1)!.blockCount)
    batches.push(batchOf(blocks.slice(at), blocks.length));
  writer.append(batches);
  writer.close();
  return dumpIndex(path);
}

/** Rows that only one side has, marked by side: shorter than two whole dumps. */
function differences(actual: readonly string[], expected: readonly string[]): string[] {
  const has = new Set(actual);
  const wants = new Set(expected);
  return [
    ...actual.filter((row) => !wants.has(row)).map((row) => `only rolled back: ${row}`),
    ...expected.filter((row) => !has.has(row)).map((row) => `only fresh: ${row}`),
  ];
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
  test(`an index that was rolled back and forked at random equals a fresh one, row for row (seed ${seed})`, (t) => {
    const dir = tempDir(t);
    const random = randomSource(seed);
    const path = join(dir, 'forked.db');
    const writer = openWriter(path);
    let chain = randomBlocks(1, 40 + Math.floor(random() * 40), ROOT, seed);
    appendAll(writer, chain, random);
    for (let fork = 1; fork <= 8; fork++) {
      const keep = Math.max(0, chain.length - 1 - Math.floor(random() ** 2 * chain.length));
      writer.rollback(keep);
      chain = chain.slice(0, keep);
      assert.equal(writer.head()?.number ?? 0, keep);
      const branch = randomBlocks(
        keep + 1,
        1 + Math.floor(random() * 30),
        chain.at(-1)?.hash ?? ROOT,
        seed * 100 + fork,
      );
      appendAll(writer, branch, random);
      chain = chain.concat(branch);
    }
    writer.close();
    assert.deepEqual(differences(dumpIndex(path), freshDump(join(dir, 'fresh.db'), chain)), []);
  });
}

/**
 * Blocks of token transfers to one wallet, up to these counts. The wallet gets native coins where a page or a zone-map
 * span starts, and at the end.
 */
function blocksUpTo(counts: readonly number[]): PlainBlock[] {
  const count = counts.at(-1)!;
  const transfers = Array.from({ length: count }, (_, i) => {
    const rare = i % ENTRIES_PER_PAGE < 2 || (i + 1) % ZONE_SPAN === 0 || i >= count - 2;
    return {
      kind: rare
        ? i % 2 === 0
          ? TransferKind.nativeDirect
          : TransferKind.nativeInternal
        : TransferKind.erc20,
      from: `${i % 5}`.repeat(40),
      to: 'a'.repeat(40),
      token: rare ? '' : 'c'.repeat(40),
      logIndex: rare ? -1 : i,
      amount: BigInt(i + 1),
      number: null,
    };
  });
  return counts.map((end, i) => ({
    ...randomBlocks(i + 1, 1, ROOT, 1)[0]!,
    transactions: [
      { hash: `0x${String(i).padStart(64, '0')}`, transfers: transfers.slice(counts[i - 1] ?? 0, end) },
    ],
  }));
}

test('rolled back to or beside the edge of a page, zone-map span or token, an index equals a fresh one', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'rolled.db');
  const run = ENTRIES_PER_PAGE;
  const counts = [2, 3, ...[run, 2 * run, 3 * run].flatMap((end) => [end - 1, end, end + 1]), 4 * run];
  const blocks = blocksUpTo(counts);
  for (const from of [blocks.length, blocks.length - 2]) {
    for (let to = 1; to < from; to++) {
      const writer = openWriter(path);
      writer.append(blocks.slice(writer.head()?.number ?? 0, from).map((block) => batchOf([block], 1)));
      writer.rollback(to);
      writer.close();
      const fresh = freshDump(join(dir, `${from} ${to}.db`), blocks.slice(0, to));
      assert.deepEqual(
        differences(dumpIndex(path), fresh),
        [],
        `from ${counts[from - 1]} to ${counts[to - 1]}`,
      );
    }
  }
});

/** How many first buyers the only token of an index has. */
function buyersIn(path: string): number {
  const db = openDatabase(path, { readonly: true });
  try {
    return prepareBuyersOf(db)(1).length;
  } finally {
    db.close();
  }
}

test('a full list of first buyers takes others in the places that a rollback frees, and never more', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'rolled.db');
  const perBlock = MAX_FIRST_BUYERS / 4;
  const branch = (from: number, to: number, salt: string): PlainBlock[] =>
    randomBlocks(from, to - from + 1, ROOT, 1).map((block) => ({
      ...block,
      transactions: [
        {
          hash: block.hash,
          transfers: Array.from({ length: perBlock }, (_, i) => ({
            kind: TransferKind.erc20,
            from: 'f'.repeat(40),
            to: `${salt}${String(block.number * 1000 + i).padStart(39, '0')}`,
            token: 'c'.repeat(40),
            logIndex: i,
            amount: 1n,
            number: null,
          })),
        },
      ],
    }));
  const first = branch(1, 6, 'a');
  const writer = openWriter(path);
  writer.append([toBatch(first)]);
  for (const keep of [5, 4, 3, 1]) {
    writer.rollback(keep);
    const second = branch(keep + 1, 6, `${keep}`);
    for (const block of second) writer.append([toBatch([block])]);
    const fresh = freshDump(join(dir, `${keep}.db`), [...first.slice(0, keep), ...second]);
    assert.deepEqual(differences(dumpIndex(path), fresh), []);
    assert.equal(buyersIn(join(dir, `${keep}.db`)), MAX_FIRST_BUYERS);
  }
  writer.close();
});

test('rolling everything back leaves an empty index that can start over', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'index.db');
  const writer = openWriter(path);
  const empty = dumpIndex(path);
  writer.append([toBatch(randomBlocks(1, 700, ROOT, 9), false)]);
  writer.rollback(0);
  assert.equal(writer.head(), null);
  assert.deepEqual(dumpIndex(path), empty);
  writer.close();
});

test('a deep rollback is made in steps that keep the write-ahead log short', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = openWriter(path);
  writer.disableAutoCheckpoint();
  const blocks = randomBlocks(1, 10_000, ROOT, 9);
  for (let at = 0; at < blocks.length; at += 500) writer.append([toBatch(blocks.slice(at, at + 500))]);
  writer.rollback(0);
  const walMiB = statSync(`${path}-wal`).size / 2 ** 20;
  assert.ok(walMiB < 24, `${walMiB} MiB`);
  assert.equal(writer.head(), null);
  writer.close();
});

test('a rollback step takes no longer for large blocks', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = openWriter(path);
  const empty = dumpIndex(path);
  const transfers = randomBlocks(1, 50, ROOT, 3).flatMap(({ transactions }) =>
    transactions.flatMap((transaction) => transaction.transfers),
  );
  const transactions = [{ hash: `0x${'7'.repeat(64)}`, transfers: Array(18).fill(transfers).flat() }];
  const blocks = randomBlocks(1, 9, ROOT, 3).map((block) => ({ ...block, transactions }));
  // A block that exceeds a step gets a step of its own.
  blocks.push({ ...randomBlocks(10, 1, ROOT, 3)[0]!, transactions: Array(3).fill(transactions).flat() });
  for (const block of blocks) writer.append([toBatch([block])]);
  const heads: (number | undefined)[] = [];
  while (!writer.rollbackStep(0)) heads.push(writer.head()?.number);
  assert.equal(heads[0], 9);
  const [perBlock = 0] = [transactions[0]?.transfers.length];
  assert.ok(perBlock > 5_000 && perBlock < 10_000, `${perBlock} transfers a block`);
  assert.ok(heads.length >= 3, `${heads}`);
  assert.deepEqual(dumpIndex(path), empty);
  writer.close();
});

for (const [what, damage, message] of [
  [
    'a wallet without a row',
    'DELETE FROM wallets WHERE id = 1',
    /the index refers to wallet 1, which has no row/,
  ],
  [
    'a wallet without its finished history pages',
    'DELETE FROM activity',
    /the history of wallet \d+ lacks a page/,
  ],
  ['a token without a row', 'DELETE FROM tokens', /the index refers to token \d+, which has no row/],
  ...['transactions', 'token_transfers', 'internal_received'].map(
    (column) =>
      [
        `wallets with too few ${column}`,
        `UPDATE wallets SET ${column} = min(${column}, 1)`,
        /the transfers of wallet \d+ add up to more than its stored sums/,
      ] as const,
  ),
  ...['native_received', 'native_sent'].map(
    (column) =>
      [
        `wallets that lost their ${column}`,
        `UPDATE wallets SET ${column} = x''`,
        /the transfers of wallet \d+ add up to more than its stored sums/,
      ] as const,
  ),
  [
    'wallets with too few transfers',
    'UPDATE wallets SET transfers = min(transfers, 1)',
    /the transfers of wallet \d+ add up to more than its stored sums/,
  ],
  [
    'more transferred than the sums of a wallet hold',
    "UPDATE transfers SET value = x'ffffffffffffffffffffffffffffffffffffff' WHERE kind = 0",
    /the transfers of wallet \d+ add up to more than its stored sums/,
  ],
] as const) {
  test(`a rollback that meets ${what} changes nothing and says to rebuild the index`, (t) => {
    const path = join(tempDir(t), 'index.db');
    const writer = openWriter(path);
    t.after(() => writer.close());
    writer.append([toBatch(randomBlocks(1, 120, ROOT, 5))]);
    const db = openDatabase(path);
    t.after(() => db.close());
    db.exec(damage);
    const damaged = dumpIndex(path);
    assert.throws(
      () => writer.rollback(20),
      (error) => {
        assert.ok(error instanceof FatalError, String(error));
        assert.match(error.message, message);
        assert.match(error.message, /index\.db is damaged .*; move it away and start again/);
        return true;
      },
    );
    assert.deepEqual(dumpIndex(path), damaged);
  });
}

test('wrong sums of wallets that a rollback removes altogether go with them', (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = openWriter(path);
  t.after(() => writer.close());
  const empty = dumpIndex(path);
  writer.append([toBatch(randomBlocks(1, 60, ROOT, 5))]);
  const db = openDatabase(path);
  t.after(() => db.close());
  db.exec('UPDATE wallets SET transactions = 0 WHERE id > 0');
  writer.rollback(0);
  assert.deepEqual(dumpIndex(path), empty);
});
