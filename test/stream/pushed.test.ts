import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventRow } from '../../src/query/events.ts';
import { PushedTransfers } from '../../src/stream/pushed.ts';
import { Subscription } from '../../src/stream/subscription.ts';
import { WalletWatcher, type Watcher } from '../../src/stream/watcher.ts';

function watcher(): Watcher {
  const outlet = { backlog: 0, push() {}, whenDrained() {}, close() {} };
  const subscription = new Subscription('wallet_transfers', outlet, { total: 0 }, 1_000);
  const filter = {
    wallet: 'aa'.repeat(20),
    direction: 'both',
    native: true,
    tokens: true,
    fromBlock: null,
  } as const;
  return new WalletWatcher(subscription, filter);
}

function row(id: number, blockNumber: number): EventRow {
  const hex = '00';
  return {
    id,
    kind: 0,
    amount: '1',
    tokenNumber: '',
    logIndex: null,
    txHash: hex,
    blockNumber,
    timestamp: 0,
    from: hex,
    to: hex,
    token: '',
    symbol: null,
    decimals: null,
    eventIndex: 0,
    blockHash: hex,
  };
}

test('what is above a block is taken out newest first, whoever was told it when', () => {
  const pushed = new PushedTransfers();
  const [a, b] = [watcher(), watcher()];
  pushed.add(row(5, 11), [a], 12);
  pushed.add(row(6, 12), [a], 12);
  pushed.add(row(4, 10), [b], 12);
  pushed.add(row(5, 11), [b], 12);
  const taken = pushed.takeAbove(10);
  assert.deepEqual(
    taken.map(({ row: { id }, watchers }) => [id, watchers]),
    [
      [6, [a]],
      [5, [a, b]],
    ],
  );
  assert.deepEqual(pushed.takeAbove(10), []);
  assert.deepEqual(
    pushed.takeAbove(0).map(({ row: { id } }) => id),
    [4],
  );
});

test('a watcher knows up to which block it was told what nobody remembers', () => {
  const pushed = new PushedTransfers();
  const [old, flooded] = [watcher(), watcher()];
  pushed.add(row(1, 700), [old], 1_000);
  assert.equal(old.forgotten, 700, 'too old to be taken back');
  for (let id = 2; id <= 60_000; id++) pushed.add(row(id, 900 + Math.floor(id / 1_000)), [flooded], 1_000);
  assert.ok(flooded.forgotten > 900 && flooded.forgotten < 960, `forgotten up to ${flooded.forgotten}`);
  const kept = pushed.takeAbove(flooded.forgotten);
  assert.equal(kept[0]?.row.id, 60_000);
  assert.ok(kept.length > 20_000);
});
