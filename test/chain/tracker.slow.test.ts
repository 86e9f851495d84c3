/** Tracks a scripted node, over HTTP alone unless a test says otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import type { NodeCall } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';
import { expectEvents, follow, Script, SILENT } from './scripted-chain.ts';

test('a gap is filled, and a reorg removes blocks before adding others', async (context) => {
  const script = new Script(50);
  const { events } = await follow(nestedCleanup(context), script);
  script.branches.push('a', 'a', 'a');
  await expectEvents(events, '+50a +51a +52a');
  script.branches.splice(51, 2, 'b', 'b', 'b');
  await expectEvents(events, '+50a +51a +52a -51a -52a +51b +52b +53b');
});

test('a reorg whose blocks cannot be fetched removes nothing', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script);
  script.branches.push('a', 'a', 'a');
  await expectEvents(events, '+50a +51a +52a');
  // The fork is found with single calls. The blocks above it come in a batch, which fails.
  const failing: NodeCall[] = [];
  const isBatched = (call: NodeCall) => call.method === 'eth_getBlockByNumber' && call.params[0] === '0x33';
  node.misbehave({
    errorFor: { eth_getBlockByNumber: { code: -32603, message: 'Internal error' } },
    when: (call) => {
      const fails = isBatched(call) && node.requests.at(-1)?.batch === true;
      if (fails) failing.push(call);
      return fails;
    },
  });
  const before = [...script.branches];
  script.branches.splice(50, 3, 'b', 'b', 'b', 'b');
  await waitFor(() => failing.length > 1, { what: 'the batch to fail' });
  script.branches = before;
  node.misbehave({});
  script.branches.push('a');
  await expectEvents(events, '+50a +51a +52a +53a');
});

test('a branch that exists only during the search for the fork adds no block twice', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script);
  script.branches.push('a', 'a', 'a');
  await expectEvents(events, '+50a +51a +52a');
  const other = new Script(50);
  other.branches.push('a', 'b', 'b');
  let lookups = 0;
  node.misbehave({
    // The search for the fork makes single calls; the blocks above it come in a batch.
    when: ({ params: [id] }) => typeof id === 'string' && id !== 'latest' && !node.requests.at(-1)?.batch,
    replace: (_method, [id]) => {
      lookups++;
      return other.block(Number(id));
    },
  });
  script.branches.push('a', 'a', 'a');
  await expectEvents(events, '+50a +51a +52a +53a +54a +55a');
  assert.ok(lookups >= 2, `${lookups} lookups of the other branch`);
});

test('following ends half a minute after the last user has left', async (context) => {
  const owner = nestedCleanup(context);
  const script = new Script(50);
  const { chain, events, release } = await follow(owner, script);
  const passes = (ms: number) => {
    context.mock.timers.tick(ms);
    context.mock.timers.reset();
  };
  const second = await chain.acquire();
  const pretend = () => context.mock.timers.enable({ apis: ['setTimeout'] });
  pretend();
  release();
  release();
  passes(30_000);
  script.branches.push('a');
  await expectEvents(events, '+50a');
  pretend();
  second();
  context.mock.timers.tick(29_999);
  const third = await chain.acquire();
  passes(1);
  script.branches.push('a');
  await expectEvents(events, '+50a +51a');
  pretend();
  third();
  passes(30_000);
  script.branches.push('a');
  await chain.acquire();
  script.branches.push('a');
  await expectEvents(events, '+50a +51a +53a');
});

test('a node that lags for a while changes nothing', async (context) => {
  const script = new Script(60);
  const { node, events } = await follow(nestedCleanup(context), script);
  script.branches.push('a', 'a');
  await expectEvents(events, '+60a +61a');
  const ahead = [...script.branches];
  script.branches.length = 40;
  const asked = node.requests.length;
  await waitFor(() => node.requests.length > asked + 5, { what: 'a poll of the head' });
  script.branches = [...ahead, 'a'];
  await expectEvents(events, '+60a +61a +62a');
});

test('a reorg deeper than the known blocks is reported, and following continues from the new tip', async (context) => {
  const script = new Script(60);
  const { events } = await follow(nestedCleanup(context), script);
  script.branches.push('a');
  await expectEvents(events, '+60a');
  script.branches.fill('b', 5);
  script.branches.push('b');
  await expectEvents(events, '+60a deep reorg');
  script.branches.push('b');
  await expectEvents(events, '+60a deep reorg +62b');
});

test('a chain that shares no known block is followed only once the index is on it', async (context) => {
  const script = new Script(60);
  const warnings: string[] = [];
  const log = { ...SILENT, warn: (fields: object, msg: string) => warnings.push(`${msg} ${fields}`) };
  const { chain, events } = await follow(nestedCleanup(context), script, { log });
  script.branches.push('a');
  await expectEvents(events, '+60a');
  const right = [...script.branches];
  const hashAt = (number: number): Hex => (script.block(number) as { hash: Hex }).hash;
  chain.indexed = { number: 60, hash: hashAt(60) };
  script.branches = Array(70).fill('b');
  await waitFor(() => warnings.some((line) => line.startsWith('cannot follow')), { what: 'the refusal' });
  assert.deepEqual(events, ['+60a']);
  script.branches = [...right, 'a'];
  await expectEvents(events, '+60a +61a');
  script.branches.fill('c', 5);
  script.branches.push('c');
  chain.indexed = { number: 55, hash: hashAt(55) };
  await expectEvents(events, '+60a +61a deep reorg');
});

test('a head below the known blocks counts as another chain only if the index was rolled back', async (context) => {
  const script = new Script(60);
  const { node, chain, events } = await follow(nestedCleanup(context), script);
  const polls = async () => {
    const asked = node.requests.length;
    await waitFor(() => node.requests.length > asked + 5, { what: 'a poll of the head' });
  };
  chain.noteRollback(7);
  script.branches.push('a');
  await expectEvents(events, '+60a');
  const ahead = [...script.branches];
  script.branches.length = 10;
  await polls();
  script.branches = [...ahead, 'a'];
  await expectEvents(events, '+60a +61a');
  script.branches.length = 8;
  script.branches.push('b', 'b');
  await polls();
  chain.noteRollback(7);
  await expectEvents(events, '+60a +61a deep reorg');
  script.branches.push('b');
  await expectEvents(events, '+60a +61a deep reorg +10b');
});

test('the fork of a deep reorg is found with few requests', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script);
  script.branches.push(...Array(200).fill('a'));
  await waitFor(() => events.length === 200, { what: 'a long chain' });
  const before = node.requests.length;
  script.branches.splice(80, 170, ...Array(171).fill('b'));
  await waitFor(() => events.length === 200 + 170 + 171, { what: 'the new branch' });
  assert.equal(events[200], '-80a');
  assert.equal(events.at(-1), '+250b');
  const lookups = node.requests
    .slice(before)
    .filter(({ batch, calls }) => !batch && calls[0]?.params[0] !== 'latest');
  assert.ok(lookups.length <= 16, `${lookups.length} blocks were requested`);
});

test('five hundred missed blocks all arrive, in order', async (context) => {
  const script = new Script(10);
  const { events } = await follow(nestedCleanup(context), script);
  script.branches.push(...Array(500).fill('a'));
  const expected = Array.from({ length: 500 }, (_, i) => `+${10 + i}a`);
  await expectEvents(events, expected.join(' '));
});

test('a node that does not return its head is logged once, and again after recovery and failure', async (context) => {
  const script = new Script(50);
  const warnings: string[] = [];
  const log = { ...SILENT, warn: (_: object, msg: string) => warnings.push(msg) };
  const { node, events } = await follow(nestedCleanup(context), script, { log });
  for (const times of [1, 2]) {
    const seen = node.requests.length;
    node.misbehave({ errorFor: { eth_getBlockByNumber: { code: -32603, message: 'Internal error' } } });
    await waitFor(() => node.requests.length > seen + 5, {
      what: 'more polls of the head',
    });
    node.misbehave({});
    script.branches.push('a');
    await expectEvents(events, times === 1 ? '+50a' : '+50a +51a');
    assert.deepEqual(warnings, Array(times).fill('cannot follow the chain of the node; retrying'));
  }
});

test('fetching missed blocks does not cause a reconnect', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  node.misbehave({ delayMs: 60, when: () => node.requests.at(-1)?.batch === true });
  node.drop();
  script.branches.push(...Array(300).fill('a'));
  await waitFor(() => events.length === 300, { what: 'the missed blocks' });
  assert.equal(node.upgrades.length, 2);
});

test('a polled head requested before a reorg was announced does not undo the reorg', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  const announce = (branch: string) => {
    script.branches.push(branch);
    node.publish('newHeads', script.block(script.head));
  };
  announce('a');
  announce('a');
  await expectEvents(events, '+50a +51a');
  const asked = node.requests.length;
  const { promise, resolve } = Promise.withResolvers<void>();
  script.held = promise;
  await waitFor(() => node.requests.length > asked, { what: 'a poll of the head' });
  script.held = null;
  script.branches.length = 51;
  announce('b');
  announce('b');
  await expectEvents(events, '+50a +51a -51a +51b +52b');
  resolve();
  announce('b');
  await expectEvents(events, '+50a +51a -51a +51b +52b +53b');
});

test('an announced hash that is not the hash of the block, or is missing, changes nothing', async (context) => {
  const script = new Script(50);
  const { node, chain, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  for (const hash of [`0x${'c'.repeat(64)}`, null]) {
    script.branches.push('a');
    node.publish('newHeads', { ...script.block(script.head), hash });
    await waitFor(() => chain.tip?.number === script.head, { what: 'the block' });
  }
  await expectEvents(events, '+50a +51a');
  assert.equal(node.upgrades.length, 1, 'no reconnect');
});

test('a head that is announced before the node serves it is read soon after', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  const next = new Script(51).block(50);
  const asked = node.requests.length;
  node.publish('newHeads', next);
  await waitFor(() => node.requests.length > asked, { what: 'a read of the head' });
  script.branches.push('a');
  const at = performance.now();
  await expectEvents(events, '+50a');
  assert.ok(performance.now() - at < 1_500, 'before the next poll');
});

test('the tracker reconnects when announcements stop', async (context) => {
  const script = new Script(50);
  const { node, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  const reconnected = () => {
    if (events.length === script.head - 49) script.branches.push('a');
    return node.upgrades.length > 1;
  };
  await waitFor(reconnected, { what: 'a second connection' });
});

test('a chain that was set back, which a node does not announce, causes no reconnect', async (context) => {
  const script = new Script(60);
  const { node, connection, events } = await follow(nestedCleanup(context), script, { ws: true });
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  const losses: boolean[] = [];
  connection.onConnectionChange((isConnected) => losses.push(!isConnected));
  const polls = async (count: number) => {
    const asked = node.requests.length;
    await waitFor(() => node.requests.length >= asked + count, { what: 'a poll of the head' });
  };
  await polls(1);
  const ahead = [...script.branches, 'a'];
  script.branches.length = 10;
  await polls(2);
  script.branches = ahead;
  await expectEvents(events, '+60a');
  assert.ok(!losses.includes(true));
});

test('a node that refuses newHeads is polled like one without a WebSocket', async (context) => {
  const script = new Script(50);
  const warnings: string[] = [];
  const log = { ...SILENT, warn: (_: object, msg: string) => warnings.push(msg) };
  const faults = { errorFor: { eth_subscribe: { code: -32601, message: 'no "newHeads" subscription' } } };
  const { node, events } = await follow(nestedCleanup(context), script, { log, ws: true, faults });
  await waitFor(() => warnings.length === 1, { what: 'the refusal' });
  const startedAt = performance.now();
  for (let head = 50; head < 53; head++) {
    script.branches.push('a');
    await waitFor(() => events.at(-1) === `+${head}a`, { what: `block ${head}`, everyMs: 5 });
  }
  assert.ok(performance.now() - startedAt < 3_000, 'three heads wait for no long poll');
  assert.equal(node.upgrades.length, 1, 'the connection that other subscriptions use stays');
  assert.deepEqual(warnings, ['the node refuses newHeads; polling its head instead']);
});

test('filters and streams see the same changes, each in its own form', async (context) => {
  const script = new Script(50);
  const { chain, events } = await follow(nestedCleanup(context), script);
  await chain.refresh();
  const { position } = chain.journal;
  script.branches.push('a', 'a');
  await chain.refresh();
  script.branches.splice(51, 1, 'b', 'b');
  await chain.refresh();
  const changes = chain.journal.since(position) ?? [];
  assert.deepEqual(
    changes.map(({ added, number }) => `${added ? '+' : '-'}${number}`),
    ['+50', '+51', '-51', '+51', '+52'],
  );
  await expectEvents(events, '+50a +51a -51a +51b +52b');
});

test('a refresh after one that failed runs, and a restart loses every earlier position', async (context) => {
  const owner = nestedCleanup(context);
  const script = new Script(50);
  const { node, chain, release } = await follow(owner, script);
  release();
  await chain.refresh();
  const { position } = chain.journal;
  node.misbehave({ errorFor: { eth_getBlockByNumber: { code: -32000, message: 'no such thing' } } });
  const first = chain.refresh();
  const second = first.catch(() => {
    node.misbehave({});
    return chain.refresh();
  });
  await assert.rejects(first, /no such thing/);
  await second;
  assert.deepEqual(chain.journal.since(position), []);
  chain.journal.restart();
  assert.equal(chain.journal.since(position), null);
});
