/** What the index says of the senders and receivers of transactions, however blocks were committed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesToHex } from '../../src/lib/hex.ts';
import type { BlockBatch } from '../../src/model/block-batch.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { MIGRATIONS, migrate, schemaVersion } from '../../src/store/migrations/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { PartiesPacker } from '../../src/store/packed-parties.ts';
import { StoredBlocks } from '../../src/verify/stored-blocks.ts';
import {
  type PlainBlock,
  type PlainTransaction,
  randomBlocks,
  toBatch,
} from '../support/chain/random-chain.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { address, createIndex, txHash } from '../support/index/index-fixture.ts';

const ZERO = `0x${'0'.repeat(40)}`;
const START = 10;

/** Both parties of each transaction with transfers, by its hash; null if either is missing. */
function partiesOf(batch: BlockBatch): Map<string, string | null> {
  const parties = new Map<string, string | null>();
  for (let t = 0; t < batch.txHashes.length / 32; t++) {
    const [from, to] = [batch.txFrom, batch.txTo].map((of) => bytesToHex(of.subarray(t * 20, t * 20 + 20)));
    const hash = bytesToHex(batch.txHashes.subarray(t * 32, t * 32 + 32));
    parties.set(hash, from === ZERO || to === ZERO ? null : `${from} ${to}`);
  }
  return parties;
}

/** The parties that an index at a path has of blocks `from..to`. */
function storedParties(path: string, from: number, to: number): Map<string, string | null> {
  const db = openDatabase(path, { readonly: true });
  const batch = new StoredBlocks(db, db).read(from, to, Number.POSITIVE_INFINITY);
  db.close();
  return partiesOf(batch);
}

for (let seed = 1; seed <= 8; seed++)
  test(`an index of several branches has the parties of the last one: seed ${seed}`, (context) => {
    const fixture = createIndex(nestedCleanup(context), START);
    let blocks: PlainBlock[] = [];
    for (let branch = 0; branch < 4; branch++) {
      const kept = Math.floor((blocks.length * ((seed * 7 + branch * 3) % 10)) / 10);
      fixture.writer.rollback(START + kept - 1);
      const parent = blocks[kept - 1]?.hash ?? txHash('no parent');
      const added = randomBlocks(START + kept, 30, parent, seed * 100 + branch);
      blocks = [...blocks.slice(0, kept), ...added];
      for (let at = 0, size = 1; at < added.length; at += size, size = (size * 3 + seed) % 11 || 1)
        fixture.writer.append([toBatch(added.slice(at, at + size))]);
    }
    const stored = storedParties(fixture.path, START, START + blocks.length - 1);
    assert.deepEqual(stored, partiesOf(toBatch(blocks)));
    assert.ok([...stored.values()].includes(null) && stored.size > 50);
  });

function blockOf(transactions: readonly PlainTransaction[]): PlainBlock {
  const [hash, parent] = [txHash('the block'), txHash('no parent')];
  return { number: START, hash, parent, timestamp: 1, transactions: [...transactions] };
}

const coin = (from: string, to: string, logIndex = 0) => ({
  kind: TransferKind.erc20,
  from: address(from).slice(2),
  to: address(to).slice(2),
  token: address('coin').slice(2),
  logIndex,
  amount: 1n,
  number: null,
});

test('a transaction takes a byte if its parties are in its first transfer, and a repeated outsider two more', () => {
  const transaction = (name: string, from: string, to: string, transfers = [coin('alice', 'bob')]) => ({
    hash: txHash(name),
    transfers,
    parties: { from: address(from), to: address(to) },
  });
  const bytesOf = (...transactions: PlainTransaction[]) =>
    new PartiesPacker().pack(toBatch([blockOf(transactions)]), 0, () => null)?.length;
  assert.equal(bytesOf(transaction('1', 'alice', 'coin')), 1);
  assert.equal(bytesOf(transaction('1', 'bob', 'alice')), 1);
  assert.equal(bytesOf(transaction('1', 'alice', 'router')), 23);
  assert.equal(bytesOf(transaction('1', 'alice', 'router'), transaction('2', 'bob', 'router')), 25);
  const many = Array.from({ length: 1_000 }, (_, i) => coin('alice', `to ${i}`, i));
  assert.equal(bytesOf(transaction('1', 'alice', 'to 900', many)), 1 + 2 + 2);
});

test('a transaction keeps parties of any place, and one without a sender keeps none', (context) => {
  const fixture = createIndex(nestedCleanup(context), START);
  const transfers = Array.from({ length: 300 }, (_, i) => coin('pool', `to ${i}`, i));
  const named = {
    hash: txHash('many'),
    transfers,
    parties: { from: address('to 299'), to: address('coin') },
  };
  const missing = { ...named, hash: txHash('missing'), parties: { from: ZERO, to: address('coin') } };
  fixture.writer.append([toBatch([blockOf([missing, named, missing])])]);
  assert.deepEqual(
    [...storedParties(fixture.path, START, START).values()],
    [null, `${address('to 299')} ${address('coin')}`],
  );
});

test('blocks without any known sender have no row', (context) => {
  const fixture = createIndex(nestedCleanup(context), START);
  const transaction = { hash: txHash('a'), transfers: [coin('alice', 'bob')] };
  fixture.writer.append([toBatch([blockOf([{ ...transaction, parties: { from: ZERO, to: ZERO } }])])]);
  fixture.append([{ b: [{ from: 'alice', to: 'bob' }] }]);
  const db = fixture.reader(nestedCleanup(context));
  assert.equal(db.prepare('SELECT count(*) FROM block_parties').pluck().get(), 0);
});

test('an index of the release before gets an empty table, and parties of the blocks that follow', (context) => {
  const cleanup = nestedCleanup(context);
  const fixture = createIndex(cleanup, START);
  const blocks = randomBlocks(START, 20, txHash('no parent'), 1);
  fixture.writer.append([toBatch(blocks.slice(0, 10))]);
  const db = openDatabase(fixture.path);
  const text = () => db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'block_parties'").pluck().get();
  const columns = () => db.pragma('table_info(block_parties)');
  const [created, wanted] = [text(), columns()];
  db.exec('DROP TABLE block_parties');
  db.pragma('user_version = 15');
  const upTo16 = MIGRATIONS.filter(({ version }) => version <= 16);
  for (const _ of migrate(db, upTo16));
  assert.equal(schemaVersion(db), 16);
  assert.ok(created && text());
  assert.deepEqual(columns(), wanted);
  db.close();
});
