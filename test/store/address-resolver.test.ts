/** Wallets whose addresses start alike: anybody can send transfers to as many of them as they like. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { BlockBatch } from '../../src/model/block-batch.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { ADDRESS_PREFIX_BYTES, ZERO_WALLET } from '../../src/store/schema.ts';
import { toBatch } from '../support/chain/random-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { tempDir } from '../support/temp-dir.ts';

const GIVER = '9'.repeat(40);

/** Digits of addresses that start with the same bytes. */
function alike(n: number, prefix = 'ab'.repeat(ADDRESS_PREFIX_BYTES)): string {
  return prefix + n.toString(16).padStart(40 - prefix.length, '0');
}

/** A block that pays each of some addresses. */
function paying(number: number, receivers: readonly string[]): BlockBatch {
  const hash = (of: number) => `0x${of.toString(16).padStart(64, '0')}`;
  const transfers = receivers.map((to) => ({
    ...{
      kind: TransferKind.nativeDirect,
      from: GIVER,
      to,
      token: '',
      logIndex: -1,
      amount: 1n,
      number: null,
    },
  }));
  const transactions = [{ hash: hash(number + 1000), transfers }];
  return toBatch([{ number, hash: hash(number), parent: hash(number - 1), timestamp: number, transactions }]);
}

function openWriter(t: TestContext, name: string): { writer: IndexWriter; path: string } {
  const path = join(tempDir(t), name);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 1);
  return { writer, path };
}

/** What an index finds for some addresses. */
function idsOf(path: string, addresses: readonly string[]): (number | undefined)[] {
  const db = openIndexForReading(path);
  try {
    const idOf = prepareWalletIdByAddress(db);
    return addresses.map((address) => idOf(`0x${address}`));
  } finally {
    db.close();
  }
}

test('distinguishes wallets whose addresses share a prefix, within a commit and across commits', (t) => {
  const { writer, path } = openWriter(t, 'index.db');
  writer.append([paying(1, [alike(7), alike(3), alike(5)])]);
  writer.append([paying(2, [alike(5), alike(1), alike(3), alike(0)])]);
  assert.deepEqual(
    idsOf(path, [GIVER, alike(7), alike(3), alike(5), alike(1), alike(0)]),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(idsOf(path, [alike(2), alike(0, '77'), alike(0, '99')]), [
    undefined,
    undefined,
    undefined,
  ]);
});

test('addresses with the prefix of the zero address are separate wallets', (t) => {
  const { writer, path } = openWriter(t, 'index.db');
  writer.append([paying(1, [alike(1, '00'), alike(0, '00'), alike(2, '00')])]);
  assert.deepEqual(
    idsOf(
      path,
      [0, 1, 2, 3].map((n) => alike(n, '00')),
    ),
    [ZERO_WALLET, 2, 3, undefined],
  );
});

test('only the first wallet of a prefix is found by it, however many there are', (t) => {
  const { writer, path } = openWriter(t, 'index.db');
  const many = Array.from({ length: 3_000 }, (_, n) => alike(n));
  writer.append([paying(1, many.slice(0, 1_000)), paying(2, many.slice(1_000, 2_000))]);
  writer.append([paying(3, many)]);
  assert.deepEqual(
    idsOf(path, many),
    many.map((_, n) => n + 2),
  );
  const db = openIndexForReading(path);
  t.after(() => db.close());
  const keys = db.prepare('SELECT length(key) AS bytes, count(*) AS keys FROM addresses GROUP BY 1').all();
  assert.deepEqual(keys, [
    { bytes: ADDRESS_PREFIX_BYTES, keys: 3 },
    { bytes: 20, keys: many.length - 1 },
  ]);
});

test('a rollback removes addresses, and what begins alike afterwards is as in a fresh index', (t) => {
  const { writer, path } = openWriter(t, 'forked.db');
  writer.append([paying(1, [alike(1, '11')])]);
  writer.append([paying(2, [alike(1), alike(2), alike(2, '11')])]);
  writer.rollback(1);
  assert.deepEqual(idsOf(path, [alike(1, '11'), alike(1), alike(2), alike(2, '11')]), [
    ...[2, undefined, undefined, undefined],
  ]);
  const branch = paying(2, [alike(2), alike(1), alike(3, '11')]);
  writer.append([branch]);
  const fresh = openWriter(t, 'fresh.db');
  fresh.writer.append([paying(1, [alike(1, '11')]), branch]);
  assert.deepEqual(dumpIndex(path), dumpIndex(fresh.path));
  assert.deepEqual(idsOf(path, [alike(2), alike(1), alike(3, '11')]), [3, 4, 5]);
});
