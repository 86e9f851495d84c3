import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruMap } from '../../src/lib/lru-map.ts';
import { WalletIdCache } from '../../src/query/wallet-id-cache.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { address, createIndex, ZERO_ADDRESS } from '../support/index/index-fixture.ts';

test('ids and addresses are those of the index, and unknown addresses have none', (t) => {
  const index = createIndex(t);
  const { walletIds } = index.snapshot(t);
  assert.equal(walletIds.idOf(ZERO_ADDRESS), 0, 'in an index without blocks');
  index.append([{ a: [{ from: 'alice', to: 'bob' }] }]);
  const later = index.snapshot(t).walletIds;
  for (const name of ['alice', 'bob', 'alice']) {
    const id = later.idOf(address(name));
    assert.ok(id !== undefined && id > 0);
    assert.equal(later.addressOf(id), address(name));
  }
  assert.equal(later.idOf(address('nobody')), undefined);
  assert.equal(later.withId(address('nobody'), Number), undefined);
  assert.throws(() => later.addressOf(77), /the index refers to wallet 77, which has no row/);
});

test('a wallet looked up twice is cached, also across new blocks; a wallet looked up once is not', (t) => {
  const index = createIndex(t);
  const { db, snapshot, walletIds } = index.snapshot(t);
  index.append([{ a: [{ from: 'alice', to: 'bob' }] }]);
  const bob = walletIds.idOf(address('bob'))!;
  const alice = walletIds.idOf(address('alice'))!;
  walletIds.idOf(address('bob'));
  for (const wallet of [alice, bob, bob]) walletIds.addressOf(wallet);
  snapshot.release();
  index.append([{ b: [{ from: 'bob', to: 'carol' }] }]);
  index.damage('DELETE FROM addresses; UPDATE wallets SET address = zeroblob(20)');
  assert.equal(walletIds.idOf(address('bob')), bob);
  assert.equal(walletIds.addressOf(bob), address('bob'));
  assert.equal(walletIds.idOf(address('alice')), undefined, 'read again from the damaged file');
  assert.equal(walletIds.addressOf(alice), ZERO_ADDRESS, 'read again from the damaged file');
  assert.equal(new WalletIdCache(db, snapshot).idOf(address('bob')), undefined, 'the file has it no more');
});

test('after a reorg nothing of the old branch is served', (t) => {
  const index = createIndex(t);
  const { snapshot, walletIds } = index.snapshot(t);
  index.append([{}, { a: [{ from: 'alice', to: 'bob' }] }]);
  const lookUp = () => [walletIds.idOf(address('alice')), walletIds.idOf(address('bob'))];
  const [alice, bob] = lookUp();
  assert.deepEqual(lookUp(), [alice, bob], 'the second time, so that they are cached');
  for (let i = 0; i < 2; i++) assert.equal(walletIds.addressOf(bob!), address('bob'));
  snapshot.release();
  index.writer.rollback(1);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }, {}], 'other branch');
  assert.equal(walletIds.addressOf(bob!), address('alice'));
  assert.equal(walletIds.idOf(address('alice')), bob);
  assert.equal(walletIds.idOf(address('bob')), alice);
});

test('it agrees with the index through random commits and rollbacks', (t) => {
  const index = createIndex(t);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const inIndex = prepareWalletIdByAddress(db);
  const random = randomSource(7);
  const next = (below: number) => Math.floor(random() * below);
  const names = Array.from({ length: 20 }, (_, i) => `wallet ${i}`);
  const anyName = () => names[next(names.length)]!;
  let compared = 0;
  for (let step = 0; step < 100; step++) {
    const head = index.writer.head()?.number ?? 0;
    if (head > 0 && next(3) === 0) index.writer.rollback(Math.max(0, head - 1 - next(4)));
    else index.append([{ [`tx ${step}`]: [{ from: anyName(), to: anyName() }] }], `branch ${step}`);
    if (next(2) === 0) continue; // a reader does not see every commit
    snapshot.release();
    for (const name of names) {
      const id = walletIds.idOf(address(name));
      assert.equal(id, inIndex(address(name)), `${name} at step ${step}`);
      if (id === undefined) continue;
      assert.equal(walletIds.addressOf(id), address(name), `${name} at step ${step}`);
      compared++;
    }
  }
  assert.ok(compared > 200, `only ${compared} were compared`);
});

test('an LRU map keeps what is used and at most twice its size', () => {
  const map = new LruMap<string, number>(10);
  map.set('used', 1);
  for (let i = 0; i < 1_000; i++) {
    map.set(`other ${i}`, i);
    assert.equal(map.get('used'), 1, `after ${i} others`);
    assert.equal(map.get(`other ${i - 4}`), i < 4 ? undefined : i - 4);
  }
  assert.equal(map.get('other 0'), undefined);
  const cached = Array.from({ length: 1_000 }, (_, i) => map.get(`other ${i}`)).filter(
    (v) => v !== undefined,
  );
  assert.ok(cached.length <= 20, `${cached.length} are cached`);
  map.clear();
  assert.equal(map.get('used'), undefined);
});
