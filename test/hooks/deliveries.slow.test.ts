/** Hooks deliver each event, signed, in order and with a stable id, whatever receivers do. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nestedCleanup } from '../support/cleanup.ts';
import { address } from '../support/index/index-fixture.ts';
import { answers, HookReceiver, hangs, keptEvents } from '../support/runs/hook-receiver.ts';
import { waitFor } from '../support/wait.ts';
import { HookWorld } from './hook-world.ts';

async function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  return { cleanup, world: new HookWorld(cleanup), receiver: await HookReceiver.start(cleanup) };
}

const OUT = { filter: { events: ['wallet_native_out'] } };
const blocksOf = (receiver: HookReceiver) => receiver.events.map(({ blockNumber }) => blockNumber);
const ids = (events: readonly { deliveryId: string }[]) => events.map(({ deliveryId }) => deliveryId);
const received = (receiver: HookReceiver, count: number) =>
  waitFor(() => receiver.events.length >= count, {
    what: `${count} events; there are ${receiver.events.length}`,
    everyMs: 5,
  });

test('events from a block on are replayed and continue live, in signed batches of at most 100', async (context) => {
  const { world, receiver } = await setUp(context);
  world.pay(30, { payments: 10 });
  const hook = world.hook(receiver.url, { ...OUT, fromBlock: 6 });
  receiver.secret = hook.secret;
  world.start();
  await received(receiver, 250);
  world.pay(5, { payments: 3 });
  await received(receiver, 265);
  const expected = Array.from({ length: 250 }, (_, i) => 6 + Math.floor(i / 10));
  assert.deepEqual(blocksOf(receiver), [...expected, ...[31, 32, 33, 34, 35].flatMap((n) => [n, n, n])]);
  assert.deepEqual(
    receiver.bodies.slice(0, 3).map((body) => JSON.parse(body).deliveries.length),
    [100, 100, 50],
  );
  assert.equal(receiver.forged, 0);
  assert.equal(new Set(ids(receiver.events)).size, 265);
  const [first] = receiver.events;
  assert.equal(JSON.parse(receiver.bodies[0]!).hook, hook.id);
  assert.deepEqual(
    [first?.event, first?.wallet, first?.txFrom, first?.leg, first?.legs],
    ['wallet_native_out', address('alice'), address('alice'), 1, 1],
  );
});

test('without a first block a hook begins with what is indexed after its creation', async (context) => {
  const { world, receiver } = await setUp(context);
  world.pay(3);
  world.hook(receiver.url, OUT);
  world.pay(2);
  world.start();
  await received(receiver, 2);
  assert.deepEqual(blocksOf(receiver), [4, 5]);
});

test('redelivers refused events in order with the same ids, even from a new process', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  receiver.behave = answers(500);
  world.start();
  world.pay(3);
  await waitFor(() => world.store.get(hook.id).failures === 1, { what: 'the failure' });
  const { lastError, nextAttemptAt } = world.store.get(hook.id);
  assert.equal(lastError, 'the receiver answered 500');
  assert.ok((nextAttemptAt ?? 0) > Date.now());
  await world.stop();
  receiver.behave = null;
  world.start();
  await received(receiver, 3);
  assert.deepEqual(blocksOf(receiver), [1, 2, 3]);
  const [refused, accepted] = receiver.bodies.map((body) => ids(JSON.parse(body).deliveries));
  assert.deepEqual(accepted?.slice(0, refused?.length), refused);
  await waitFor(() => world.store.get(hook.id).failures === 0, { what: 'the end of the failures' });
  assert.equal(world.store.get(hook.id).lastError, null);
});

test('an event whose acceptance was lost is redelivered with the same id', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  let lost = 1;
  receiver.behave = (response) => {
    const body = JSON.parse(receiver.bodies.at(-1)!);
    receiver.events.push(...body.deliveries);
    if (lost-- > 0) response.destroy();
    else response.writeHead(200).end();
  };
  world.pay(1);
  world.start();
  await received(receiver, 2);
  assert.equal(new Set(ids(receiver.events)).size, 1);
  assert.equal(new Set(receiver.messageIds).size, 1);
});

test('events whose acceptance was lost are withdrawn if a reorg precedes the retry', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  receiver.behave = (response) => {
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    if (blocksOf(receiver).includes(3)) response.destroy();
    else response.writeHead(200).end();
  };
  world.start();
  world.pay(2);
  await received(receiver, 2);
  world.pay(1);
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the lost acceptance' });
  await world.stop();
  receiver.behave = null;
  world.rollBack(2);
  world.pay(2, { branch: 'b' });
  world.start();
  await received(receiver, 6);
  const shown = receiver.events.map(({ blockNumber, removed }) => `${removed ? '-' : '+'}${blockNumber}`);
  assert.equal(shown.join(' '), '+1 +2 +3 -3 +3 +4');
  assert.equal(receiver.events[3]?.withdraws, receiver.events[2]?.deliveryId);
});

test('a receiver that hangs or is down delays no other', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const hanging = await HookReceiver.start(cleanup);
  const down = await HookReceiver.start(cleanup);
  hanging.behave = hangs;
  down.stop();
  const slowHook = world.hook(hanging.url, OUT);
  const deadHook = world.hook(down.url, OUT);
  world.hook(receiver.url, OUT);
  world.start({ timeoutMs: 400 });
  const startedAt = performance.now();
  world.pay(1);
  await received(receiver, 1);
  assert.ok(performance.now() - startedAt < 400, 'it waited for the others');
  await waitFor(() => world.store.get(slowHook.id).failures > 0, { what: 'the timeout' });
  assert.match(world.store.get(slowHook.id).lastError ?? '', /no answer within 0.4 s/);
  assert.match(world.store.get(deadHook.id).lastError ?? '', /ECONNREFUSED/);
  hanging.behave = null;
  await received(hanging, 1);
  assert.deepEqual(ids(hanging.events).length, 1);
});

test('redirects are not followed, and 410 deletes the hook', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const other = await HookReceiver.start(cleanup);
  receiver.behave = answers(302, { location: other.url });
  const hook = world.hook(receiver.url, OUT);
  world.start();
  world.pay(1);
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the failure' });
  assert.match(world.store.get(hook.id).lastError ?? '', /302: redirects are not followed/);
  assert.equal(other.bodies.length, 0);
  receiver.behave = answers(410);
  await waitFor(() => world.store.find(hook.id) === undefined, { what: 'the end of the hook' });
});

test('pauses a hook after 24 hours of failures, and resumes where it stopped', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  receiver.behave = answers(500);
  const yesterday = Date.now() - 25 * 3_600_000;
  world.store.db.prepare('UPDATE hooks SET failing_since = ?, failures = 40').run(yesterday);
  world.pay(2);
  world.start();
  await waitFor(() => world.store.get(hook.id).state === 'paused', { what: 'the pause' });
  assert.match(world.store.get(hook.id).reason ?? '', /not accepted for 24 hours: the receiver answered 500/);
  assert.ok(!JSON.stringify(world.logged).includes('secret-path'), 'the URL may be secret');
  assert.ok(!JSON.stringify(world.logged).includes('whsec_'));
  receiver.behave = null;
  world.store.resume(hook.id);
  world.wake();
  await received(receiver, 2);
  assert.deepEqual(blocksOf(receiver), [1, 2]);
});

test('a clock that is set back a year delays no retry, and one set ahead pauses no hook', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  const year = 365 * 86_400_000;
  const set = 'UPDATE hooks SET failing_since = ?, failures = 2, next_attempt_at = ?';
  world.store.db.prepare(set).run(Date.now() + year, Date.now() + year);
  world.pay(1);
  world.start();
  await received(receiver, 1);
  receiver.behave = answers(500);
  world.store.db.prepare(set).run(Date.now() - year, Date.now() - year);
  world.pay(2);
  world.wake();
  await waitFor(() => world.store.get(hook.id).failures > 2, { what: 'the failure' });
  assert.equal(world.store.get(hook.id).state, 'active');
});

test('obeys the Retry-After of the receiver', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  receiver.behave = answers(429, { 'retry-after': '600' });
  world.pay(1);
  world.start();
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the failure' });
  const wait = (world.store.get(hook.id).nextAttemptAt ?? 0) - Date.now();
  assert.ok(wait > 590_000 && wait <= 600_000, `${wait} ms`);
});

test('withdrawn events come newest first with what they withdraw, then those of the other branch', async (context) => {
  const { world, receiver } = await setUp(context);
  world.hook(receiver.url, OUT);
  world.start();
  world.pay(4, { payments: 2 });
  await received(receiver, 8);
  world.rollBack(2);
  world.pay(3, { branch: 'b' });
  await received(receiver, 15);
  const told = receiver.events.map(({ blockNumber, removed }) => `${removed ? '-' : '+'}${blockNumber}`);
  assert.equal(told.join(' '), '+1 +1 +2 +2 +3 +3 +4 +4 -4 -4 -3 -3 +3 +4 +5');
  const withdrawn = receiver.events.slice(8, 12);
  assert.deepEqual(
    withdrawn.map(({ withdraws }) => withdraws),
    ids(receiver.events.slice(4, 8)).toReversed(),
  );
  assert.equal(new Set(ids(receiver.events)).size, 15);
  assert.equal(keptEvents(receiver.events).length, 7);
});

test('an interrupted withdrawal is completed, even if the block came back', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, { ...OUT, format: 'json' });
  world.start();
  world.pay(2, { payments: 150 });
  await received(receiver, 300);
  let accepted = 1;
  receiver.behave = (response) => {
    if (accepted-- <= 0) return void response.writeHead(503).end();
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    response.writeHead(200).end();
  };
  world.rollBack(1);
  world.pay(1, { branch: 'b' });
  await waitFor(() => world.store.get(hook.id).failures > 0, { what: 'the refusal' });
  await world.stop();
  world.rollBack(1);
  world.pay(1, { payments: 150 }); // the same block as at first
  receiver.behave = null;
  world.start();
  await received(receiver, 600);
  const counts = Object.groupBy(receiver.events, ({ removed }) => (removed ? 'removed' : 'told'));
  assert.deepEqual([counts.removed?.length, counts.told?.length], [150, 450]);
  assert.equal(keptEvents(receiver.events).length, 300);
  const again = receiver.events.slice(450);
  assert.deepEqual(ids(again), ids(receiver.events.slice(150, 300)), 'the ids follow from the chain');
});

test('events wait for confirmations, or until the node calls their block finalized', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const final = await HookReceiver.start(cleanup);
  world.hook(receiver.url, { ...OUT, confirmations: 2 });
  world.hook(final.url, { ...OUT, finality: true });
  world.start();
  world.pay(5);
  await received(receiver, 3);
  world.index.writer.setFinalized(2);
  world.pay(1);
  await received(receiver, 4);
  await received(final, 2);
  assert.deepEqual(
    [blocksOf(receiver), blocksOf(final)],
    [
      [1, 2, 3, 4],
      [1, 2],
    ],
  );
});

test('a hook for a list gets the events of its wallets, also of those that appear later', async (context) => {
  const { world, receiver } = await setUp(context);
  const wallets = Array.from({ length: 3_000 }, (_, i) => address(`watched ${i}`).slice(2));
  world.store.lists.import('watched', new Set(wallets));
  world.append([{ a: [{ from: 'other', to: 'watched 1' }] }, { b: [{ from: 'other', to: 'another' }] }]);
  world.hook(receiver.url, { filter: { wallets: 'list:watched' }, fromBlock: 0 });
  world.start();
  await received(receiver, 1);
  world.append([{ c: [{ from: 'watched 2', to: 'other', kind: 'erc20', token: 'coin' }] }]);
  await received(receiver, 2);
  assert.deepEqual(
    receiver.events.map(({ event, wallet }) => [event, wallet]),
    [
      ['wallet_funded', address('watched 1')],
      ['wallet_token_sell', address('watched 2')],
    ],
  );
  assert.throws(() => world.store.lists.remove('watched'), { code: 'list_in_use' });
});

test('a missing list pauses the hook that uses it, and no other', async (context) => {
  const { world, receiver } = await setUp(context);
  world.store.lists.import('short-lived', new Set([address('alice').slice(2)]));
  const hook = world.hook(receiver.url, { filter: { wallets: 'list:short-lived' } });
  world.hook(receiver.url, OUT);
  world.store.db.exec('DELETE FROM lists');
  world.start();
  world.pay(1);
  await received(receiver, 1);
  await waitFor(() => world.store.get(hook.id).state === 'paused', { what: 'the pause' });
  assert.match(world.store.get(hook.id).reason ?? '', /there is no list "short-lived"/);
});

test('a long history of few wallets, and of a token, is found as by looking at every transfer', async (context) => {
  const { cleanup, world, receiver } = await setUp(context);
  const token = await HookReceiver.start(cleanup);
  const block = (n: number) =>
    Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => {
        const isRare = (n * 500 + i) % 700 === 0;
        const coin = { from: 'x', to: `y${i}`, kind: 'erc20', token: isRare ? 'rare' : 'common' } as const;
        return [`${n} ${i}`, [isRare ? { from: 'alice', to: `z${n}` } : { from: 'x', to: 'y' }, coin]];
      }),
    );
  world.append(Array.from({ length: 25 }, (_, n) => block(n)));
  const wallets = [address('alice'), address('z3')];
  world.hook(receiver.url, { filter: { wallets, events: ['wallet_native_out'] }, fromBlock: 0 });
  const filter = { tokens: [address('rare')], events: ['wallet_token_sell'] };
  world.hook(token.url, { filter, fromBlock: 0 });
  world.start();
  const expected = Array.from({ length: 18 }, (_, i) => 1 + Math.floor((i * 700) / 500));
  await received(receiver, 18);
  await received(token, 18);
  assert.deepEqual([blocksOf(receiver), blocksOf(token)], [expected, expected]);
});

test('a test has no events', async (context) => {
  const { world, receiver } = await setUp(context);
  const hook = world.hook(receiver.url, OUT);
  receiver.secret = hook.secret;
  world.store.requestTest(hook.id);
  world.start();
  await waitFor(() => world.store.get(hook.id).testResult !== null, { what: 'the test' });
  assert.match(world.store.get(hook.id).testResult ?? '', /Z accepted$/);
  assert.deepEqual(JSON.parse(receiver.bodies[0]!), { hook: hook.id, test: true, deliveries: [] });
  assert.equal(receiver.forged, 0);
});
