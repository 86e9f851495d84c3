/** The subscriptions that are passed on as the node sends them: monadNewHeads, monadLogs and syncing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nestedCleanup } from '../../support/cleanup.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { waitFor } from '../../support/wait.ts';
import { StreamClient } from '../client.ts';
import { ADDRESS, type ChainLog, hash, header, ScriptedMonad, serveMonad } from './scripted-monad.ts';

const TOPICS = ['monadNewHeads', 'monadLogs', 'syncing'] as const;

/** Subscriptions at the node without those of clients: heads for the indexer, later heads for the streams. */
const OF_DAEMON = 1;

const proposal = (number: number, commitState: string) => ({
  blockId: hash('1d', number),
  commitState,
  ...header(number),
});

test('each notification of the node is passed on, and equal subscriptions share one at the node', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const heads = await client.subscribe('monadNewHeads');
  const sameHeads = await client.subscribe('monadNewHeads');
  const syncing = await client.subscribe('syncing');
  const logs = await client.subscribe<ChainLog>('monadLogs');
  const ofAddress = await client.subscribe<ChainLog>('monadLogs', { address: ADDRESS, topics: [null, null] });
  const ofNobody = await client.subscribe<ChainLog>('monadLogs', { address: `0x${'00'.repeat(20)}` });
  await waitFor(() => monad.node.subscriptions === OF_DAEMON + TOPICS.length, {
    what: 'one subscription per topic',
  });

  const sent = ['Proposed', 'Voted', 'Finalized', 'Verified'].map((state) => proposal(101, state));
  for (const head of sent) monad.node.publish('monadNewHeads', head);
  const states = [true, { syncing: true, status: { currentBlock: '0x1', highestBlock: '0x9' } }, false];
  for (const state of states) monad.node.publish('syncing', state);
  for (const state of ['Proposed', 'Voted', 'Finalized', 'Verified']) monad.announce(101, state);
  await waitFor(() => logs.results.length === 8, { what: 'the logs of four states' });
  assert.deepEqual([heads.results, sameHeads.results, syncing.results], [sent, sent, states]);
  assert.deepEqual(ofAddress.results, logs.results);
  assert.deepEqual(
    logs.results.map(({ commitState, logIndex }) => `${commitState} ${Number(logIndex)}`),
    ['Proposed', 'Voted', 'Finalized', 'Verified'].flatMap((state) => [`${state} 0`, `${state} 1`]),
  );
  assert.equal(ofNobody.results.length, 0);

  await client.call('eth_unsubscribe', heads.id);
  monad.node.publish('monadNewHeads', proposal(102, 'Proposed'));
  await waitFor(() => sameHeads.results.length === 5, { what: 'the head for the other subscription' });
  assert.equal(heads.results.length, 4);
  client.socket.close();
  await waitFor(() => monad.node.subscriptions === OF_DAEMON, { what: 'the node to be unsubscribed' });
});

test('monadLogs and chainLogs share the subscription at the node, and each keeps its own rules', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const verbatim = await client.subscribe<ChainLog>('monadLogs');
  const once = await client.subscribe<ChainLog>('chainLogs', {});
  monad.propose(['Proposed', 'Voted']);
  await waitFor(() => verbatim.results.length === 4 && once.results.length === 2, { what: 'the logs' });
  await client.call('eth_unsubscribe', once.id);
  monad.announce(101, 'Finalized');
  await waitFor(() => verbatim.results.length === 6, { what: 'the logs of another state' });
  assert.equal(once.results.length, 2);
});

test('the subscriptions continue after a broken connection to the node', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const feeds = await Promise.all(TOPICS.map((topic) => client.subscribe(topic)));
  monad.node.drop();
  await waitFor(() => monad.node.subscriptions === OF_DAEMON + TOPICS.length, { what: 'the subscriptions' });
  monad.node.publish('monadNewHeads', proposal(101, 'Voted'));
  monad.node.publish('syncing', false);
  monad.announce(101, 'Voted', [0]);
  await waitFor(() => feeds.every(({ results }) => results.length === 1), { what: 'a notification of each' });
});

test('a node that does not offer a subscription refuses it with its own error', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  const error = { code: -32602, message: 'Invalid params: "of" the node', data: { kinds: ['newHeads'] } };
  monad.node.misbehave({ errorFor: { eth_subscribe: error } });
  for (const topic of TOPICS) {
    await assert.rejects(client.call('eth_subscribe', topic), ({ code, message, data }) => {
      assert.deepEqual({ code, message, data }, error, topic);
      return true;
    });
  }
  monad.node.misbehave({});
  await client.subscribe('monadNewHeads');
});

test('clients are closed when the node refuses after a reconnect what it had accepted', async (context) => {
  const { monad, client } = await serveMonad(nestedCleanup(context));
  await client.subscribe('monadLogs');
  monad.node.misbehave({ errorFor: { eth_subscribe: { code: -32603, message: 'limit reached' } } });
  monad.node.drop();
  assert.deepEqual(await client.closed(), { code: 1013, reason: 'the node ended monadLogs' });
});

test('without a WebSocket of the node nothing is passed on; it never sees a wrong filter', async (context) => {
  const t = nestedCleanup(context);
  const monad = await ScriptedMonad.start(t);
  const served = await startTestDaemon(t, {
    flags: { '--node-http': monad.node.url, '--start-block': 'latest' },
    env: { ATLAS_INDEX__TRACES: 'false' },
  });
  const client = await StreamClient.open(t, served.url, served.key);
  for (const topic of TOPICS) {
    await assert.rejects(client.call('eth_subscribe', topic), {
      code: -32602,
      message: `${topic} is not offered by the node`,
    });
  }
  await assert.rejects(client.call('eth_subscribe', 'monadLogs', { adress: ADDRESS }), {
    code: -32602,
    message: /adress/,
  });
});
