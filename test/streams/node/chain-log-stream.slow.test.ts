/** chainLogs and newPendingTransactions over a scripted node, with and without Monad's subscriptions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFetchedBlock } from '../../../src/chain/block.ts';
import { fetchBlockLogs } from '../../../src/streams/node/fetch-block-logs.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { waitFor } from '../../support/wait.ts';
import { ADDRESS, type ChainLog, hash, header, log, quantity, serveMonad, TOPIC } from './scripted-monad.ts';

/** Deeper than the stack of JSON.stringify. */
const DEEP = 100_000;
/** Subscriptions at the node: heads for the indexer, heads for the streams, and monadLogs. */
const WITH_LOGS = 3;

const places = (logs: readonly ChainLog[]) =>
  logs.map((log) => `${Number(log.blockNumber)}.${Number(log.logIndex)}`);
const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => [`${from + i}.0`, `${from + i}.1`]).flat();

const reach = (feed: { results: ChainLog[] }, count: number) =>
  waitFor(() => feed.results.length >= count, { what: `${count} logs; got ${places(feed.results)}` });

test('on Monad each log is sent once, when first seen, or with every state on request', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const first = await client.subscribe<ChainLog>('chainLogs', {});
  const every = await client.subscribe<ChainLog>('chainLogs', { commitStates: true, address: ADDRESS });
  const nothing = await client.subscribe<ChainLog>('chainLogs', { address: `0x${'00'.repeat(20)}` });
  monad.propose();
  monad.propose();
  monad.announce(101, 'Voted');
  monad.announce(101, 'Finalized');
  monad.propose(['Voted', 'Finalized']);
  await reach(every, 12);
  await waitFor(() => monad.node.subscriptions >= WITH_LOGS, { what: 'the subscriptions at the node' });
  assert.equal(monad.node.subscriptions, WITH_LOGS, 'one for all clients');
  assert.deepEqual(places(first.results), blocks(101, 103));
  assert.deepEqual(
    first.results.map(({ commitState }) => commitState),
    ['Proposed', 'Proposed', 'Proposed', 'Proposed', 'Voted', 'Voted'],
  );
  assert.deepEqual(Object.keys(first.results[0] ?? {}).slice(0, 2), ['blockId', 'commitState']);
  assert.deepEqual(places(every.results), [
    ...blocks(101, 102),
    ...blocks(101, 101),
    ...blocks(101, 101),
    ...blocks(103, 103),
    ...blocks(103, 103),
  ]);
  assert.equal(nothing.results.length, 0);
});

test('commitStates other than true and false is refused, not read as false', async (context) => {
  const { client } = await serveMonad(nestedCleanup(context));
  for (const commitStates of ['true', 1, {}]) {
    await assert.rejects(client.call('eth_subscribe', 'chainLogs', { commitStates }), {
      code: -32602,
      message: 'commitStates must be true or false',
    });
  }
  for (const commitStates of [false, null]) await client.subscribe('chainLogs', { commitStates });
});

test('states of blocks from before the subscription are not sent as new logs', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const feed = await client.subscribe<ChainLog>('chainLogs', {});
  monad.announce(100, 'Finalized');
  monad.propose();
  await reach(feed, 2);
  assert.deepEqual(places(feed.results), blocks(101, 101));
});

for (const first of ['head', 'logs'] as const) {
  test(`logs of blocks that replace earlier ones than the subscription are sent: ${first} first`, async (context) => {
    const { monad, client } = await serveMonad(nestedCleanup(context));
    const once = await client.subscribe<ChainLog>('chainLogs', {});
    const every = await client.subscribe<ChainLog>('chainLogs', { commitStates: true });
    monad.fork = 98;
    monad.head = 98;
    if (first === 'logs') monad.announce(99, 'Proposed');
    monad.propose(first === 'head' ? undefined : []);
    monad.announce(98, 'Finalized');
    monad.propose();
    monad.propose();
    await reach(once, 6);
    assert.deepEqual(places(once.results).sort(), blocks(99, 101).sort());
    await reach(every, 8);
    assert.deepEqual(places(every.results).sort(), blocks(98, 101).sort());
  });
}

test('logs announced in part or not at all when the connection breaks are fetched, in order', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const feed = await client.subscribe<ChainLog>('chainLogs', {});
  monad.propose();
  monad.head++;
  monad.node.publish('newHeads', header(102));
  monad.announce(102, 'Proposed', [0]);
  await reach(feed, 3);
  monad.node.drop();
  for (let i = 0; i < 4; i++) monad.proposeUnannounced();
  const back = () => monad.node.subscriptions >= WITH_LOGS;
  await waitFor(back, { what: 'the subscriptions at the node again' });
  monad.propose();
  monad.propose();
  await reach(feed, 16);
  assert.deepEqual(places(feed.results), blocks(101, 108));
});

test('logs of blocks that replace others while the connection is broken are fetched, each once', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const once = await client.subscribe<ChainLog>('chainLogs', {});
  const every = await client.subscribe<ChainLog>('chainLogs', { commitStates: true });
  for (let i = 0; i < 5; i++) monad.propose();
  await reach(every, 10);
  monad.node.drop();
  const back = () => monad.node.subscriptions >= WITH_LOGS;
  await waitFor(back, { what: 'the subscriptions at the node again' });
  monad.fork = 102;
  monad.head = 104;
  monad.announce(105, 'Proposed'); // before the head that reveals the other branch
  await reach(once, 12);
  monad.propose([]);
  monad.propose();
  const told = [...blocks(101, 102), ...blocks(103, 105), ...blocks(103, 106)].sort();
  for (const feed of [once, every]) {
    await reach(feed, told.length);
    assert.deepEqual(places(feed.results).sort(), told);
  }
});

test('a gap is fetched from the first subscription on; no client gets blocks from before its own', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const early = await client.subscribe<ChainLog>('chainLogs', { commitStates: true });
  monad.node.drop();
  monad.proposeUnannounced();
  const back = () => monad.node.subscriptions >= WITH_LOGS;
  await waitFor(back, { what: 'the subscriptions at the node again' });
  monad.node.misbehave({ delayMs: 500, when: ({ method }) => method === 'eth_getLogs' });
  const heads = await client.subscribe<{ number: string }>('newHeads');
  monad.propose();
  monad.propose();
  await waitFor(() => Number(heads.results.at(-1)?.number) === 103, { what: 'the head' });
  const late = await client.subscribe<ChainLog>('chainLogs', { commitStates: true });
  monad.node.misbehave({});
  monad.propose();
  await reach(early, 8);
  assert.deepEqual(places(early.results), blocks(101, 104));
  await reach(late, 2);
  assert.deepEqual(places(late.results), blocks(104, 104));
  assert.ok(monad.logsAsked <= 6, `the logs of ${monad.logsAsked} blocks were asked for`);
});

test('a gap does not reach back to subscriptions that have ended', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const first = await client.subscribe<ChainLog>('chainLogs', {});
  monad.propose();
  await reach(first, 2);
  await client.call('eth_unsubscribe', first.id);
  const heads = await client.subscribe<{ number: string }>('newHeads');
  for (let i = 0; i < 20; i++) monad.propose();
  await waitFor(() => heads.results.length === 20, { what: 'twenty heads' });
  const second = await client.subscribe<ChainLog>('chainLogs', {});
  monad.node.drop();
  monad.proposeUnannounced();
  await reach(second, 2);
  assert.deepEqual(places(second.results), blocks(122, 122));
  assert.ok(monad.logsAsked <= 3, `the logs of ${monad.logsAsked} blocks were asked for`);
});

test('an unavailable block that only former subscribers needed closes no connection', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const heads = await client.subscribe<{ number: string }>('newHeads'); // keeps the chain followed
  const first = await client.subscribe<ChainLog>('chainLogs', {});
  monad.node.misbehave({ errorFor: { eth_getLogs: { code: -32000, message: 'unknown block' } } });
  monad.node.drop();
  monad.proposeUnannounced();
  await waitFor(() => monad.logsAsked > 0, { what: 'a call for the logs of a block' });
  await client.call('eth_unsubscribe', first.id);
  const isKnown = () => heads.results.some(({ number }) => number === quantity(monad.head));
  await waitFor(isKnown, { what: 'the block that was proposed meanwhile' });
  const second = await client.subscribe<ChainLog>('chainLogs', {});
  const asked = await waitFor(() => monad.logsAsked >= 12 && monad.logsAsked, { what: 'the last attempt' });
  monad.propose();
  const { socket } = client;
  await waitFor(() => second.results.length === 2 || socket.readyState !== socket.OPEN, {
    what: 'the logs of the next block, or the end of the connection',
  });
  assert.deepEqual(places(second.results), blocks(102, 102));
  assert.equal(monad.logsAsked, asked);
});

test('pending transactions are offered only where the operator and the node do', async (context) => {
  const t = nestedCleanup(context);
  const off = await serveMonad(t);
  await assert.rejects(off.client.subscribe('newPendingTransactions'), {
    code: -32602,
    message: /stream\.pending/,
  });
  const { monad, client } = await serveMonad(t, { ATLAS_STREAM__PENDING: 'true' });
  const hashes = await client.subscribe('newPendingTransactions');
  const whole = await client.subscribe('newPendingTransactions', true);
  monad.node.publish('newPendingTransactions', TOPIC);
  await waitFor(() => hashes.results.length === 1 && whole.results.length === 1, {
    what: 'a pending transaction',
  });
  assert.deepEqual(hashes.results, [TOPIC]);
  const before = monad.node.subscriptions;
  await client.call('eth_unsubscribe', hashes.id);
  await client.call('eth_unsubscribe', whole.id);
  await waitFor(() => monad.node.subscriptions === before - 2, { what: 'the node to be unsubscribed' });
  monad.node.misbehave({ errorFor: { eth_subscribe: { code: -32602, message: 'Invalid params' } } });
  await assert.rejects(client.subscribe('newPendingTransactions'), {
    code: -32602,
    message: /not offered by the node/,
  });
});

test('a node at its subscription limit is not mistaken for one without monadLogs', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  monad.node.misbehave({
    errorFor: { eth_subscribe: { code: -32603, message: 'WebSocket subscription limit reached' } },
  });
  await assert.rejects(client.subscribe('chainLogs', {}), { code: -32603, message: /upstream unavailable/ });
});

test('a notification nested too deep to serialise is skipped, and later ones are sent', async (context) => {
  const t = nestedCleanup(context);
  const { monad, client } = await serveMonad(t, { ATLAS_STREAM__PENDING: 'true' });
  const heads = await client.subscribe<{ number: string }>('newHeads');
  const logs = await client.subscribe<ChainLog>('chainLogs', {});
  const pending = await client.subscribe('newPendingTransactions', true);
  const nested = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`;
  const withNested = (value: object) =>
    JSON.stringify({ ...value, extra: 0 }).replace('"extra":0', `"extra":${nested}`);
  monad.node.publishText('newHeads', withNested(header(101)));
  monad.node.publishText(
    'monadLogs',
    withNested({ blockId: hash('1d', 101), commitState: 'Proposed', ...log(101, 0) }),
  );
  monad.node.publishText('newPendingTransactions', withNested({ hash: TOPIC }));
  monad.propose();
  monad.propose();
  monad.node.publish('newPendingTransactions', { hash: TOPIC });
  await waitFor(() => heads.results.length >= 2 && pending.results.length >= 1, { what: 'what followed' });
  await reach(logs, 4);
  assert.deepEqual(
    heads.results.map(({ number }) => Number(number)),
    [101, 102],
  );
  assert.deepEqual(places(logs.results), blocks(101, 102));
  assert.deepEqual(pending.results, [{ hash: TOPIC }]);
});

test('an answer nested too deep to serialise is malformed', async () => {
  const nested: unknown = JSON.parse(`${'['.repeat(DEEP)}${']'.repeat(DEEP)}`);
  const malformed = { name: 'UpstreamError', reason: 'malformed' };
  assert.throws(
    () => readFetchedBlock({ ...header(101), extra: nested }, 'eth_getBlockByNumber', null),
    malformed,
  );
  assert.throws(() => readFetchedBlock({ ...header(101), extra: nested }, 'newHeads', null), malformed);
  const block = readFetchedBlock(header(101), 'newHeads', null);
  const answers = [[{ ...log(101, 0), extra: nested }], [log(101, 0)]];
  const client = { call: async () => answers.shift(), batch: async () => [] };
  const logs = await fetchBlockLogs(client, block, new AbortController().signal);
  assert.equal(logs?.length, 1, 'asked again');
});
