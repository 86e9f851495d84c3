/** What the index derives from its transfers: the same rows by commits, by steps, and after rollbacks and kills. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { FatalError } from '../../src/lib/errors.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { PageCursor } from '../../src/store/paged-history.ts';
import { TOKEN_PAGE_BYTES } from '../../src/store/tokens/token-history.ts';
import { type PlainBlock, randomBlocks, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = `0x${'00'.repeat(32)}`;

function openWriter(path: string): IndexWriter {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  if (writer.chain() === null) writer.setChain(1, 1);
  return writer;
}

/** Blocks of many transfers of a few tokens, some rare, so that pages fill, with distances of one and of two bytes. */
function busyBlocks(from: number, count: number, parent: string, salt: number): PlainBlock[] {
  return randomBlocks(from, count, parent, salt).map((block) => {
    const random = randomSource(salt * 7919 + block.number * 104_729 + 1);
    const transfers = Array.from({ length: Math.floor(random() * 300) }, (_, i) => {
      const token = Math.floor(random() ** 4 * 5);
      return {
        kind: token === 4 ? TransferKind.nativeDirect : TransferKind.erc20,
        from: 'f'.repeat(40),
        to: `${Math.floor(random() * 9)}`.repeat(40),
        token: token === 4 ? '' : `${token}c`.repeat(20),
        logIndex: token === 4 ? -1 : i,
        amount: 1n,
        number: null,
      };
    });
    return { ...block, transactions: [{ hash: block.hash, transfers }, ...block.transactions] };
  });
}

function freshDump(path: string, blocks: readonly PlainBlock[]): string[] {
  const writer = openWriter(path);
  writer.append([toBatch(blocks)]);
  writer.close();
  return dumpIndex(path);
}

function count(path: string, table: string): number {
  const db = openDatabase(path, { readonly: true });
  try {
    return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  } finally {
    db.close();
  }
}

/** Rows that only one side has: shorter than two whole dumps. */
function differences(actual: readonly string[], expected: readonly string[]): string[] {
  const [has, wants] = [new Set(actual), new Set(expected)];
  return [...actual.filter((row) => !wants.has(row)), ...expected.filter((row) => !has.has(row))];
}

test('the pages of a token list its transfers, each page as full as it can be', (t) => {
  const path = join(tempDir(t), 'index.db');
  freshDump(path, busyBlocks(1, 30, ROOT, 3));
  const db = openDatabase(path, { readonly: true });
  t.after(() => db.close());
  const tokens = db
    .prepare<[], { id: number; first: number; recent: Buffer }>(
      'SELECT id, first_transfer AS first, recent FROM tokens',
    )
    .all();
  for (const { id, first, recent } of tokens) {
    const pages = db
      .prepare<[number], Buffer>('SELECT entries FROM token_activity WHERE token = ? ORDER BY first_transfer')
      .pluck()
      .all(id);
    for (const page of pages)
      assert.ok(page.length > TOKEN_PAGE_BYTES - 3 && page.length <= TOKEN_PAGE_BYTES);
    const listed: number[] = [];
    for (const page of [...pages, recent]) {
      const cursor = new PageCursor().open(page, first);
      while (cursor.next()) listed.push(cursor.transfer);
    }
    const expected = db
      .prepare<[number], number>('SELECT id FROM transfers WHERE token = ? ORDER BY id')
      .pluck()
      .all(id);
    assert.deepEqual(listed, expected);
  }
  assert.ok(count(path, 'token_activity') > 2);
});

for (const seed of [1, 2, 3, 4]) {
  test(`an older index ends equal to a new one, whatever steps, commits, forks and kills come (seed ${seed})`, (t) => {
    const dir = tempDir(t);
    const random = randomSource(seed);
    const path = join(dir, 'older.db');
    let writer = openWriter(path);
    let chain = busyBlocks(1, 12 + Math.floor(random() * 10), ROOT, seed);
    writer.append([toBatch(chain)]);
    writer.close();
    if (seed % 3 > 0) forgetDerived(path);
    writer = openWriter(path);
    for (let event = 1; event <= 25; event++) {
      const choice = random();
      if (choice < 0.4) writer.deriveStep(1 + Math.floor(random() * 700));
      else if (choice < 0.6) {
        writer.close();
        writer = openWriter(path);
      } else if (choice < 0.8) {
        const added = busyBlocks(
          chain.length + 1,
          1 + Math.floor(random() * 3),
          chain.at(-1)?.hash ?? ROOT,
          seed * 100 + event,
        );
        writer.append([toBatch(added)]);
        chain = chain.concat(added);
      } else {
        const keep = Math.max(0, chain.length - 1 - Math.floor(random() ** 2 * chain.length));
        writer.rollback(keep);
        chain = chain.slice(0, keep);
      }
    }
    while (writer.incompleteDerived().length > 0) writer.deriveStep(500);
    writer.close();
    assert.deepEqual(differences(dumpIndex(path), freshDump(join(dir, 'new.db'), chain)), []);
  });
}

test('rolled back to the edge of a token’s page, or next to it, an index equals a fresh one', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'rolled.db');
  const edges = [1, 2].flatMap((pages) => [-1, 0, 1].map((more) => pages * TOKEN_PAGE_BYTES + more));
  const counts = [1, ...edges, 3 * TOKEN_PAGE_BYTES];
  const blocks = randomBlocks(1, counts.length, ROOT, 1).map((block, i) => ({
    ...block,
    transactions: [
      {
        hash: block.hash,
        transfers: Array.from({ length: counts[i]! - (counts[i - 1] ?? 0) }, (_, log) => ({
          kind: TransferKind.erc20,
          from: 'a'.repeat(40),
          to: 'b'.repeat(40),
          token: 'c'.repeat(40),
          logIndex: log,
          amount: 1n,
          number: null,
        })),
      },
    ],
  }));
  for (let to = 1; to < blocks.length; to++) {
    const writer = openWriter(path);
    for (const block of blocks.slice(writer.head()?.number ?? 0)) writer.append([toBatch([block])]);
    writer.rollback(to);
    writer.close();
    const fresh = freshDump(join(dir, `${to}.db`), blocks.slice(0, to));
    assert.deepEqual(differences(dumpIndex(path), fresh), [], `to ${counts[to - 1]}`);
  }
});

test('a step that fails leaves the structure and its end as they were', (t) => {
  const path = join(tempDir(t), 'index.db');
  freshDump(path, busyBlocks(1, 10, ROOT, 5));
  forgetDerived(path);
  const writer = openWriter(path);
  t.after(() => writer.close());
  writer.deriveStep(100);
  const db = openDatabase(path);
  t.after(() => db.close());
  db.exec('DELETE FROM transfers WHERE id = 350');
  writer.deriveStep(200);
  const before = dumpIndex(path);
  assert.throws(
    () => writer.deriveStep(200),
    (error) =>
      error instanceof FatalError && /some of the transfers 301 to 500 are missing/.test(error.message),
  );
  assert.deepEqual(dumpIndex(path), before);
});

for (const [what, damage, message] of [
  ['a token without its full pages', 'DELETE FROM token_activity', /the history of token \d+ lacks a page/],
  ['no end of a structure', 'DELETE FROM derived', /does not say up to where token_history is complete/],
  [
    'a wrong end',
    'UPDATE derived SET last_transfer = 1',
    /does not say up to where token_history is complete/,
  ],
] as const) {
  test(`a rollback that meets ${what} changes nothing and says to rebuild the index`, (t) => {
    const path = join(tempDir(t), 'index.db');
    freshDump(path, busyBlocks(1, 30, ROOT, 5));
    const writer = openWriter(path);
    t.after(() => writer.close());
    const db = openDatabase(path);
    t.after(() => db.close());
    db.exec(damage);
    const damaged = dumpIndex(path);
    assert.throws(
      () => writer.rollback(1),
      (error) => error instanceof FatalError && message.test(error.message),
    );
    assert.deepEqual(dumpIndex(path), damaged);
  });
}
