/** After a repair of the index a receiver ends with exactly the events of the repaired index. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nestedCleanup } from '../support/cleanup.ts';
import type { NamedBlock } from '../support/index/index-fixture.ts';
import { HookReceiver, keptEvents } from '../support/runs/hook-receiver.ts';
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
