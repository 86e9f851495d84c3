import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { prepareWalletFacts } from '../../src/query/wallets.ts';
import { address, createIndex, timestampOf } from '../support/index/index-fixture.ts';

test('reads of one turn see one commit, those of the next turn the newest', async (t) => {
  const index = createIndex(t, 10);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const facts = prepareWalletFacts(db);
  const alice = () => walletIds.query(address('alice'), facts);
  assert.equal(snapshot.head(), null);
  await nextTurn();

  index.append([{ a: [{ from: 'zero', to: 'alice' }] }]);
  const head = snapshot.head();
  assert.equal(head?.number, 10);
  assert.equal(head.startBlock, 10);
  assert.equal(head.timestamp, timestampOf(10));
  assert.equal(alice()?.transactions, 1);

  index.append([{ b: [{ from: 'zero', to: 'alice' }] }]);
  assert.equal(snapshot.head()?.number, 10);
  assert.equal(alice()?.transactions, 1, 'the new commit is not seen within the turn');

  await nextTurn();
  assert.equal(snapshot.head()?.number, 11);
  assert.equal(alice()?.transactions, 2);
});

test('after a release the same turn sees the newest commit', (t) => {
  const index = createIndex(t);
  const { snapshot } = index.snapshot(t);
  index.append([{}]);
  assert.equal(snapshot.head()?.number, 1);
  index.append([{}]);
  snapshot.release();
  assert.equal(snapshot.head()?.number, 2);
});

test('two blocks of one height have different hash prefixes', (t) => {
  const index = createIndex(t);
  const { snapshot } = index.snapshot(t);
  index.append([{}, {}]);
  const before = snapshot.head()?.hashPrefix;
  index.writer.rollback(1);
  index.append([{}], 'other branch');
  snapshot.release();
  assert.equal(snapshot.head()?.number, 2);
  assert.notEqual(snapshot.head()?.hashPrefix, before);
});

test('a head that could not be read is read again by the next look', (t) => {
  const index = createIndex(t);
  const { snapshot } = index.snapshot(t);
  index.append([{}]);
  index.damage('ALTER TABLE blocks RENAME TO unreadable');
  assert.throws(() => snapshot.head(), /no such table: blocks/);
  index.damage('ALTER TABLE unreadable RENAME TO blocks');
  assert.equal(snapshot.head()?.number, 1);
});
