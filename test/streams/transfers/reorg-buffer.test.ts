import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subscription } from '../../../src/streams/subscription.ts';
import { ReorgBuffer } from '../../../src/streams/transfers/reorg-buffer.ts';
import type { TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import {
  type TransferSubscription,
  WalletSubscription,
} from '../../../src/streams/transfers/transfer-subscription.ts';
import { eventOf, walletFilter } from '../filters.ts';
import { FREE } from '../free-payer.ts';

/** Watches the wallet whose address consists of `byte` repeated. */
function subscriber(byte = '00'): TransferSubscription {
  const connection = { backlogBytes: 0, push() {}, whenDrained() {}, close() {}, payer: FREE };
  const subscription = new Subscription('wallet_transfers', connection, { total: 0 }, 1_000);
  return new WalletSubscription(subscription, walletFilter(byte.repeat(20)));
}

function transfer(id: number, blockNumber: number): TransferEvent {
  const hex = '00';
  return eventOf({
    id,
    kind: 0,
    amount: '1',
    tokenNumber: '',
    logIndex: null,
    txHash: hex,
    blockNumber,
    timestamp: 0,
    uncertain: 0,
    from: hex.repeat(20),
    to: hex.repeat(20),
    token: '',
    symbol: null,
    decimals: null,
    viewKind: null,
    eventIndex: 0,
    blockHash: hex,
  });
}

test('transfers above a block are taken newest first and once, in whatever order they were pushed', () => {
  const pushed = new ReorgBuffer(() => []);
  const [a, b] = [subscriber(), subscriber()];
  pushed.add(transfer(5, 11), [a], 12);
  pushed.add(transfer(6, 12), [a], 12);
  pushed.add(transfer(4, 10), [b], 12);
  pushed.add(transfer(5, 11), [b], 12);
  const takeAbove = (to: number) => pushed.takeAbove(to).map(({ row }) => row.id);
  assert.deepEqual(takeAbove(10), [6, 5]);
  assert.deepEqual(takeAbove(10), []);
  assert.deepEqual(takeAbove(0), [4]);
});

test('a subscriber records the highest block with an evicted transfer it got', () => {
  const [old, flooded, unconcerned] = [subscriber(), subscriber(), subscriber('cc')];
  const pushed = new ReorgBuffer(() => [flooded, unconcerned]);
  pushed.add(transfer(1, 700), [old], 1_000);
  assert.equal(old.evictedBlock, 700, 'too old to be taken back');
  for (let id = 2; id <= 60_000; id++)
    pushed.add(transfer(id, 900 + Math.floor(id / 1_000)), [flooded], 1_000);
  assert.ok(
    flooded.evictedBlock > 900 && flooded.evictedBlock < 960,
    `evicted up to ${flooded.evictedBlock}`,
  );
  assert.equal(unconcerned.evictedBlock, -1, 'it was told nothing of it');
  const kept = pushed.takeAbove(flooded.evictedBlock);
  assert.equal(kept[0]?.row.id, 60_000);
  assert.ok(kept.length > 20_000);
});

test('keeps the newest blocks even if older ones are pushed later', () => {
  const receiver = subscriber();
  const pushed = new ReorgBuffer(() => [receiver]);
  pushed.add(transfer(200_000, 1_000), [receiver], 1_000);
  for (let id = 2; id <= 60_000; id++) pushed.add(transfer(id, 900), [receiver], 1_000);
  assert.equal(receiver.evictedBlock, 900);
  assert.deepEqual(
    pushed.takeAbove(900).map(({ row }) => row.id),
    [200_000],
  );
});

test('blocks too old for a reorg are evicted as new ones arrive', () => {
  const receiver = subscriber();
  const pushed = new ReorgBuffer(() => [receiver]);
  for (let id = 1; id <= 100; id++) pushed.add(transfer(id, id), [receiver], 100);
  for (let id = 101; id <= 200; id++) pushed.add(transfer(id, 300 + id), [receiver], 300 + id);
  assert.equal(receiver.evictedBlock, 100);
  assert.equal(pushed.takeAbove(0).length, 100);
});
