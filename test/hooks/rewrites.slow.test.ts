/** After a repair of the index a receiver ends with exactly the events of the repaired index. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openHookStore } from '../../src/hooks/hook-store.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import type { NamedBlock } from '../support/index/index-fixture.ts';
import { HookReceiver, keptEvents, type Received } from '../support/runs/hook-receiver.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { HookWorld } from './hook-world.ts';

const OUT = { filter: { events: ['wallet_native_out'] } };

/** Blocks of which each has one payment of `amount`. */
function blocks(from: number, count: number, amount: bigint): NamedBlock[] {
  return Array.from({ length: count }, (_, i) => ({
    [`tx ${from + i}`]: [{ from: 'alice', to: 'bob', amount }],
  }));
}

async function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  const world = new HookWorld(cleanup);
  const receiver = await HookReceiver.start(cleanup);
  return { cleanup, world, receiver };
}

/** Stops once the acceptance of all events is stored: events in flight would be sent again. */
async function stop(world: HookWorld, delivered: number): Promise<void> {
  const areStored = () => world.store.list().every((hook) => hook.delivered === delivered);
  await waitFor(areStored, { what: `${delivered} stored acceptances` });
  await world.stop();
}

/** The amounts that a receiver has, by block. */
function amountsOf({ events }: HookReceiver): Record<number, string> {
  return Object.fromEntries(keptEvents(events).map((event) => [event.blockNumber, String(event.valueWei)]));
}

async function hasAmounts(receiver: HookReceiver, expected: Record<number, bigint>, what: string) {
  const texts = Object.fromEntries(Object.entries(expected).map(([block, amount]) => [block, `${amount}`]));
  const isThere = () => JSON.stringify(amountsOf(receiver)) === JSON.stringify(texts);
  await waitFor(isThere, { what }).catch(() => assert.deepEqual(amountsOf(receiver), texts, what));
}

test('events that a repair changed are withdrawn and delivered again', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.append(blocks(1, 6, 1n));
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 1n, 3: 1n, 4: 1n, 5: 1n, 6: 1n }, 'the events before');
  await stop(world, 6);
  world.index.rewrite(4, blocks(4, 3, 7n));
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 1n, 3: 1n, 4: 7n, 5: 7n, 6: 7n }, 'the repaired events');
  const again = receiver.events.slice(6);
  assert.deepEqual(
    again.map(({ blockNumber, removed = false }) => [blockNumber, removed]),
    [
      [6, true],
      [5, true],
      [4, true],
      [4, false],
      [5, false],
      [6, false],
    ],
  );
  assert.ok(again.slice(3).every(({ rewrites }) => typeof rewrites === 'string'));
  assert.equal(new Set(receiver.messageIds).size, receiver.messageIds.length);

  await stop(world, 12);
  world.index.rewrite(6, blocks(6, 1, 8n)); // and a second, lower one before the hook has seen the first
  world.index.rewrite(2, [...blocks(2, 4, 9n), {}]);
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 9n, 3: 9n, 4: 9n, 5: 9n }, 'both repairs, and one event less');
});

test('final events are delivered again, under their ids', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.append(blocks(1, 6, 1n));
  world.index.writer.setFinalized(6);
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 1n, 3: 1n, 4: 1n, 5: 1n, 6: 1n }, 'the events before');
  await stop(world, 6);
  assert.deepEqual(world.store.parts.list(1), []);
  world.index.rewrite(3, blocks(3, 4, 5n));
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 1n, 3: 5n, 4: 5n, 5: 5n, 6: 5n }, 'the repaired events');
});

/** Blocks by the payments in them: their names and amounts. */
function named(...payments: Record<string, bigint>[]): NamedBlock[] {
  return payments.map((block) =>
    Object.fromEntries(
      Object.entries(block).map(([name, amount]) => [name, [{ from: 'alice', to: 'bob', amount }]]),
    ),
  );
}

/** What a receiver has, and which events were withdrawn since it had `before` events: block and amount. */
function shown({ events }: HookReceiver, before: number) {
  const text = ({ blockNumber, valueWei }: Received) => `${blockNumber}: ${valueWei}`;
  return {
    kept: keptEvents(events).map(text).sort(),
    withdrawn: events
      .slice(before)
      .filter(({ withdraws }) => withdraws !== undefined)
      .map(text),
  };
}

async function settles(world: HookWorld, receiver: HookReceiver, before: number, expected: object) {
  const head = world.index.writer.head()?.number;
  const isThere = () =>
    world.store.list().every(({ cursor }) => cursor.number === head) &&
    JSON.stringify(shown(receiver, before)) === JSON.stringify(expected);
  await waitFor(isThere, { what: 'the repaired events' }).catch(() =>
    assert.deepEqual(shown(receiver, before), expected),
  );
}

test('of final events exactly those are withdrawn that a repair removed', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.append(named({ a: 1n }, { b: 2n }, { c: 3n, d: 4n }, { e: 5n }, { f: 6n }, { g: 7n }));
  world.index.writer.setFinalized(6);
  world.start();
  await waitFor(() => receiver.events.length === 7, { what: 'the events before' });
  await stop(world, 7);
  world.index.rewrite(3, named({ c: 3n }, { e: 50n }, {}, { g: 7n, h: 8n }));
  world.index.writer.setFinalized(6);
  world.start();
  const kept = ['1: 1', '2: 2', '3: 3', '4: 50', '6: 7', '6: 8'];
  await settles(world, receiver, 7, { kept, withdrawn: ['5: 6', '3: 4'] });
  await stop(world, 13);

  // Back again, and gone again, with a restart between.
  world.index.rewrite(5, named({ f: 6n }, { g: 7n }));
  world.index.writer.setFinalized(6);
  world.start();
  await settles(world, receiver, 13, { kept: [...kept.slice(0, 4), '5: 6', '6: 7'], withdrawn: ['6: 8'] });
  await stop(world, 16);
  world.index.rewrite(5, named({}, { g: 7n }));
  world.index.writer.setFinalized(6);
  world.start();
  await settles(world, receiver, 16, { kept: [...kept.slice(0, 4), '6: 7'], withdrawn: ['5: 6'] });
  assert.equal(new Set(receiver.messageIds).size, receiver.messageIds.length);
});

test('hundreds of final events of a block are withdrawn in order, through refusals and a restart', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  const payments = Object.fromEntries(Array.from({ length: 350 }, (_, i) => [`p${i}`, BigInt(i + 1)]));
  world.append(named({ a: 1n }, payments, { z: 9n }));
  world.index.writer.setFinalized(3);
  world.start();
  await waitFor(() => receiver.events.length === 352, { what: 'the events before' });
  await stop(world, 352);
  const left = Object.fromEntries(Object.entries(payments).filter((_, i) => i % 3 === 0));
  world.index.rewrite(2, named(left, { z: 9n }));
  let refused = 0;
  receiver.behave = (response) => void response.writeHead(++refused && 503, { 'retry-after': '0' }).end();
  world.start();
  await waitFor(() => refused > 0, { what: 'a refusal' });
  await world.stop();
  receiver.behave = null;
  world.store.db.exec('UPDATE hooks SET next_attempt_at = NULL');
  world.start();
  const names = Object.values(left).map((amount) => `2: ${amount}`);
  const gone = Object.values(payments).filter((amount) => (amount - 1n) % 3n !== 0n);
  await settles(world, receiver, 352, {
    kept: ['1: 1', ...names, '3: 9'].sort(),
    withdrawn: gone.map((amount) => `2: ${amount}`).reverse(),
  });
});

test('a hook that is behind withdraws only what it delivered, and a chat no final event', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const chat = await HookReceiver.start(cleanup);
  const hook = world.hook(receiver.url, OUT);
  world.hook(chat.url, { ...OUT, format: 'slack' });
  world.append(named({ a: 1n }, { b: 2n }));
  world.index.writer.setFinalized(2);
  world.start();
  await waitFor(() => receiver.events.length === 2 && chat.bodies.length > 0, { what: 'the events before' });
  await stop(world, 2);
  world.store.pause(hook.id, 'for the test');
  world.append(named({ c: 3n }, { d: 4n }));
  world.index.writer.setFinalized(4);
  world.index.rewrite(2, named({}, {}, { d: 4n }));
  world.store.resume(hook.id);
  world.start();
  await settles(world, receiver, 2, { kept: ['1: 1', '4: 4'], withdrawn: ['2: 2'] });
  assert.ok(!chat.bodies.join().includes('WITHDRAWN'));
  world.store.delete(hook.id);
  const kept = world.store.db.prepare('SELECT count(*) FROM settled').pluck().get();
  assert.equal(kept, 0);
});

test('the settled events of a hook are bounded, the oldest forgotten first', (context) => {
  const { settled, db } = openHookStore(join(tempDir(context), 'hooks.db'));
  const noise = () => randomBytes(50_000).toString('base64');
  for (let block = 1; block <= 320; block++)
    settled.add(1, block, [{ deliveryId: `evt_${block}`, noise: noise() }]);
  const bytes = Number(db.prepare('SELECT sum(length(events)) FROM settled').pluck().get());
  assert.ok(bytes < 4.5 * 2 ** 20 && bytes > 2 ** 20, `${bytes} bytes`);
  const first = db.prepare('SELECT min(block) FROM settled').pluck().get();
  assert.ok(Number(first) > 200, `from block ${first}`);
  db.close();
});

test('a hook gets nothing from before its first block, and a chat no final events again', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const chat = await HookReceiver.start(cleanup);
  world.append(blocks(1, 3, 1n));
  world.hook(receiver.url, OUT); // begins with block 4
  world.hook(chat.url, { ...OUT, format: 'slack' });
  world.start();
  world.append(blocks(4, 2, 1n));
  await hasAmounts(receiver, { 4: 1n, 5: 1n }, 'its events');
  await stop(world, 2);
  world.index.writer.setFinalized(5);
  world.start();
  world.append(blocks(6, 1, 1n));
  await hasAmounts(receiver, { 4: 1n, 5: 1n, 6: 1n }, 'the next one');
  await stop(world, 3);
  world.index.rewrite(2, blocks(2, 5, 2n));
  world.start();
  await hasAmounts(receiver, { 4: 2n, 5: 2n, 6: 2n }, 'the repaired ones from its first block on');
  world.append(blocks(7, 1, 3n));
  await waitFor(() => /0\.000000000000000003/.test(chat.bodies.at(-1) ?? ''), {
    what: 'the chat at the end',
  });
  const texts = chat.bodies.map((body) => String(JSON.parse(body).text));
  assert.equal(texts.join('\n').split('\n').length, 6, texts.join('\n'));
});

test('a rewrite and a reorg at once, and a hook of an earlier version', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.append(blocks(1, 6, 1n));
  world.start();
  await hasAmounts(receiver, { 1: 1n, 2: 1n, 3: 1n, 4: 1n, 5: 1n, 6: 1n }, 'the events before');
  await stop(world, 6);
  world.store.db.exec("UPDATE hooks SET mark = '0', first_block = NULL");
  world.index.rewrite(3, blocks(3, 2, 4n));
  world.append(blocks(5, 3, 6n), 'other branch');
  world.start();
  await hasAmounts(
    receiver,
    { 1: 1n, 2: 1n, 3: 4n, 4: 4n, 5: 6n, 6: 6n, 7: 6n },
    'the repaired events and the other branch',
  );
});
