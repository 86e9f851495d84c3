import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subscription } from '../../src/stream/subscription.ts';
import { SignalWatcher, WalletWatcher } from '../../src/stream/watcher.ts';
import { WatcherIndex } from '../../src/stream/watcher-index.ts';

const CONNECTION = { backlogBytes: 0, push() {}, whenDrained() {}, close() {} };
const subscription = (topic: string) => new Subscription(topic, CONNECTION, { total: 0 }, 1_000);
/** The address of the wallet with this id. */
const addressOf = (id: number) => id.toString(16).padStart(40, '0');
const idOf = (address: string) => Number.parseInt(address, 16);

const walletWatcher = (id: number) =>
  new WalletWatcher(subscription('wallet_transfers'), {
    wallet: addressOf(id),
    direction: 'both',
    includeNative: true,
    includeTokens: true,
    fromBlock: null,
  });
const signalWatcher = (wallets: number[], tokens: number[] = []) =>
  new SignalWatcher(subscription('signals'), {
    wallets: new Set(wallets.map(addressOf)),
    tokens: new Set(tokens.map(addressOf)),
    events: new Set(),
    fromBlock: null,
  });

const transfer = (sender: number, receiver: number, contract: number | null = null) => ({
  id: 1,
  sender,
  receiver,
  contract,
});

test('a transfer concerns those who watch its sender, its receiver, its token or everything, each once', () => {
  const index = new WatcherIndex();
  const [alice, bob, both] = [walletWatcher(1), walletWatcher(2), signalWatcher([1, 2])];
  const [token, everything] = [signalWatcher([], [9]), signalWatcher([])];
  for (const watcher of [alice, bob, both, token, everything]) index.add(watcher, idOf);
  const concerned = (...of: Parameters<typeof transfer>) => new Set(index.candidatesFor(transfer(...of)));
  assert.deepEqual(concerned(1, 2, 9), new Set([alice, bob, both, token, everything]));
  assert.equal(index.candidatesFor(transfer(1, 2, 9)).length, 5);
  assert.equal(index.candidatesFor(transfer(1, 1)).length, 3);
  assert.deepEqual(concerned(1, 5), new Set([alice, both, everything]));
  assert.deepEqual(concerned(5, 6, 9), new Set([token, everything]));
  assert.deepEqual(concerned(5, 6), new Set([everything]));
  const found = index.candidatesByAddress({ from: addressOf(1), to: addressOf(2), token: addressOf(9) });
  assert.deepEqual([new Set(found), found.length], [concerned(1, 2, 9), 5], 'the same by addresses');
  assert.equal(index.candidatesByAddress({ from: addressOf(1), to: addressOf(1), token: '' }).length, 3);
  for (const watcher of [alice, both, everything]) index.delete(watcher);
  assert.deepEqual(concerned(1, 2), new Set([bob]));
});

test('an address is recognised once it has an id, and again after a rollback gave that id to another', () => {
  const index = new WatcherIndex();
  const newcomer = walletWatcher(77);
  index.add(newcomer, () => undefined);
  assert.equal(index.hasUnresolved, true);
  assert.deepEqual(index.candidatesFor(transfer(500, 1)), []);
  index.resolve([{ id: 500, address: addressOf(77) }]);
  assert.equal(index.hasUnresolved, false);
  assert.deepEqual(index.candidatesFor(transfer(500, 1)), [newcomer]);
  index.invalidateIdsAbove(500);
  assert.deepEqual(index.candidatesFor(transfer(500, 1)), [newcomer]);
  index.invalidateIdsAbove(499);
  assert.equal(index.hasUnresolved, true);
  assert.deepEqual(index.candidatesFor(transfer(500, 1)), []);
  assert.deepEqual(index.candidatesByAddress({ from: addressOf(77), to: addressOf(1), token: '' }), [
    newcomer,
  ]);
  index.resolve([{ id: 500, address: addressOf(78) }]);
  index.resolve([{ id: 501, address: addressOf(77) }]);
  assert.deepEqual(index.candidatesFor(transfer(501, 500)), [newcomer]);
});

test('what a transfer costs does not grow with the subscriptions', () => {
  const milliseconds = (watchers: number): number => {
    const index = new WatcherIndex();
    for (let id = 1; id <= watchers; id++) index.add(walletWatcher(id), idOf);
    const transfers = Array.from({ length: 2_000 }, (_, i) => transfer(i + 1, watchers + i, i));
    const best = Array.from({ length: 20 }, () => {
      const startedAt = performance.now();
      for (const one of transfers) index.candidatesFor(one);
      return performance.now() - startedAt;
    });
    return Math.min(...best);
  };
  milliseconds(1_000); // warm
  // A hundred times the watchers; a search through them would take a hundred times as long.
  const [few, many] = [milliseconds(1_000), milliseconds(100_000)];
  assert.ok(many < 20 * Math.max(few, 0.5), `${few} ms with 1,000 watchers, ${many} ms with 100,000`);
});
