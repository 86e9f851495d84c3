import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subscription } from '../../../src/streams/subscription.ts';
import { SubscriptionIndex } from '../../../src/streams/transfers/subscription-index.ts';
import {
  SignalSubscription,
  WalletSubscription,
} from '../../../src/streams/transfers/transfer-subscription.ts';
import { signalFilter, walletFilter } from '../filters.ts';
import { FREE } from '../free-payer.ts';

const CONNECTION = { backlogBytes: 0, push() {}, whenDrained() {}, close() {}, payer: FREE };
const subscription = (topic: string) => new Subscription(topic, CONNECTION, { total: 0 }, 1_000);
/** The address of the wallet with this id. */
const addressOf = (id: number) => id.toString(16).padStart(40, '0');
const idOf = (address: string) => Number.parseInt(address, 16);

const walletSubscriber = (id: number) =>
  new WalletSubscription(subscription('wallet_transfers'), walletFilter(addressOf(id)));
const signalSubscriber = (wallets: number[], tokens: number[] = []) =>
  new SignalSubscription(
    subscription('signals'),
    signalFilter({ wallets: new Set(wallets.map(addressOf)), tokens: new Set(tokens.map(addressOf)) }),
  );

const transfer = (sender: number, receiver: number, contract: number | null = null) => ({
  id: 1,
  sender,
  receiver,
  contract,
});

test('candidates are the subscribers to the sender, receiver, token or everything, without duplicates', () => {
  const index = new SubscriptionIndex();
  const [alice, bob, both] = [walletSubscriber(1), walletSubscriber(2), signalSubscriber([1, 2])];
  const [token, everything] = [signalSubscriber([], [9]), signalSubscriber([])];
  for (const subscriber of [alice, bob, both, token, everything]) index.add(subscriber, idOf);
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
  for (const subscriber of [alice, both, everything]) index.delete(subscriber);
  assert.deepEqual(concerned(1, 2), new Set([bob]));
});

test('an address matches once it has an id, and again after a rollback reassigned that id', () => {
  const index = new SubscriptionIndex();
  const newcomer = walletSubscriber(77);
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

test('the cost of a transfer does not grow with the number of subscriptions', () => {
  const milliseconds = (subscribers: number): number => {
    const index = new SubscriptionIndex();
    for (let id = 1; id <= subscribers; id++) index.add(walletSubscriber(id), idOf);
    const transfers = Array.from({ length: 2_000 }, (_, i) => transfer(i + 1, subscribers + i, i));
    const best = Array.from({ length: 20 }, () => {
      const startedAt = performance.now();
      for (const one of transfers) index.candidatesFor(one);
      return performance.now() - startedAt;
    });
    return Math.min(...best);
  };
  milliseconds(1_000); // warm-up
  // A hundred times the subscribers. A linear search would take a hundred times as long.
  const [few, many] = [milliseconds(1_000), milliseconds(100_000)];
  assert.ok(many < 20 * Math.max(few, 0.5), `${few} ms with 1,000 subscribers, ${many} ms with 100,000`);
});
