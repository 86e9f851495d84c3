/** Chains that advance while the node returns few logs, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainBlock } from '../../src/chain/block.ts';
import type { ChainListener } from '../../src/chain/tracker.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { createLogger } from '../../src/log/logger.ts';
import { RpcClient } from '../../src/node/client.ts';
import { NodeConnection } from '../../src/node/connection.ts';
import { ChainLogStream } from '../../src/streams/node/chain-log-stream.ts';
import { MAX_QUEUED_BLOCKS } from '../../src/streams/node/fetch-block-logs.ts';
import { HeadStream } from '../../src/streams/node/head-stream.ts';
import { parseLogFilter } from '../../src/streams/node/log-filter.ts';
import { LogStream } from '../../src/streams/node/log-stream.ts';
import { Subscription } from '../../src/streams/subscription.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';
import { FREE } from './free-payer.ts';

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

const block = (number: number): ChainBlock => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  json: '{}',
  hasLogs: true,
  isEmpty: false,
  orphaned: false,
});

/** A chain whose blocks the test adds and removes. */
class ManualChain {
  readonly tip = block(0);
  users = 0;
  private listener: ChainListener | undefined;

  addListener(listener: ChainListener): void {
    this.listener = listener;
  }

  async acquire(): Promise<() => void> {
    this.users++;
    return () => {
      this.users--;
    };
  }

  blocksFrom(): ChainBlock[] {
    return [this.tip];
  }

  add(from: number, to: number): void {
    for (let number = from; number <= to; number++) this.listener?.onBlockAdded(block(number));
  }

  remove(number: number): void {
    this.listener?.onBlocksRemoved([block(number)]);
  }

  reorgDeeply(): void {
    this.listener?.onDeepReorg();
  }
}

/** A subscription, and why its client was closed. */
function client(topic: string) {
  const closed: unknown[] = [];
  const connection = {
    payer: FREE,
    backlogBytes: 0,
    push: () => undefined,
    whenDrained: () => undefined,
    close: (code: number, reason: string) => closed.push([code, reason]),
  };
  return { closed, subscription: new Subscription(topic, connection, { total: 0 }, 1_000) };
}

/** A node that never answers, and the requests it received. */
function silentNode() {
  const calls: string[] = [];
  const call = (method: string) => {
    calls.push(method);
    return new Promise<unknown>(() => undefined);
  };
  return { calls, call, batch: () => new Promise<never>(() => undefined) };
}

/** A node with this many logs in one block, and one log in each other. */
function talkativeNode(busy: number, count: number) {
  const logOf = (blockHash: unknown, index: number, data: string) => ({
    address: `0x${'11'.repeat(20)}`,
    topics: [],
    data,
    blockNumber: '0x1',
    blockHash,
    logIndex: `0x${index.toString(16)}`,
  });
  const call = async (_method: string, [filter]: readonly unknown[]) => {
    const { blockHash } = filter as { blockHash: Hex };
    if (blockHash !== hashOf(busy)) return [logOf(blockHash, 0, '0x')];
    return Array.from({ length: count }, (_, i) => logOf(blockHash, i, `0x${'00'.repeat(500)}`));
  };
  return { call, batch: async () => [] };
}

const log = createLogger({ level: 'error', format: 'json' });

test('clients are closed when too many blocks wait for their logs', async (t) => {
  const chain = new ManualChain();
  const node = silentNode();
  const logs = new LogStream(chain, node, log);
  t.after(() => logs.close());
  const { closed, subscription } = client('logs');
  const end = await logs.subscribe(parseLogFilter({}), subscription);
  chain.add(1, MAX_QUEUED_BLOCKS);
  assert.deepEqual(closed, []);
  chain.add(MAX_QUEUED_BLOCKS + 1, MAX_QUEUED_BLOCKS + 1);
  assert.deepEqual(closed, [[1013, 'the node delivers logs too slowly']]);
  end();
  assert.equal(node.calls.length, 8, 'no more blocks are asked for at once than before');
});

test('blocks are dropped from the queue once the last subscriber has left', async (t) => {
  const chain = new ManualChain();
  const logs = new LogStream(chain, silentNode(), log);
  t.after(() => logs.close());
  const end = await logs.subscribe(parseLogFilter({}), client('logs').subscription);
  chain.add(1, MAX_QUEUED_BLOCKS);
  end();
  const { closed, subscription } = client('logs');
  await logs.subscribe(parseLogFilter({}), subscription);
  chain.add(MAX_QUEUED_BLOCKS + 1, 2 * MAX_QUEUED_BLOCKS - 1);
  assert.deepEqual(closed, []);
});

test('chainLogs clients are closed when too many blocks wait after the notifications stopped', async (t) => {
  const node = await startMisbehavingNode({});
  t.after(() => node.close());
  const rpc = new RpcClient({ url: 'http://127.0.0.1:1', timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  const connection = new NodeConnection({ wsUrl: node.wsUrl, client: rpc, log });
  t.after(() => connection.close());
  const chain = new ManualChain();
  const chainLogs = new ChainLogStream(chain, connection, log);
  t.after(() => chainLogs.close());
  const { closed, subscription } = client('chainLogs');
  await chainLogs.subscribe(parseLogFilter({}), false, subscription);
  const broken = new Promise<void>((resolve) =>
    connection.onConnectionChange((connected) => !connected && resolve()),
  );
  node.drop();
  await broken;
  chain.add(1, MAX_QUEUED_BLOCKS);
  assert.deepEqual(closed, []);
  chain.add(MAX_QUEUED_BLOCKS + 1, MAX_QUEUED_BLOCKS + 1);
  assert.deepEqual(closed, [[1013, 'the node delivers logs too slowly']]);
});

test('a reorg too deep to undo closes the clients of every stream that follows the chain', async (t) => {
  const node = await startMisbehavingNode({});
  t.after(() => node.close());
  const rpc = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  const connection = new NodeConnection({ wsUrl: node.wsUrl, client: rpc, log });
  t.after(() => connection.close());
  const streams = {
    newHeads: (chain: ManualChain, subscription: Subscription) =>
      new HeadStream(chain).subscribe(subscription),
    logs: (chain: ManualChain, subscription: Subscription) =>
      new LogStream(chain, rpc, log).subscribe(parseLogFilter({}), subscription),
    chainLogs: (chain: ManualChain, subscription: Subscription) =>
      new ChainLogStream(chain, connection, log).subscribe(parseLogFilter({}), true, subscription),
  };
  for (const [topic, subscribe] of Object.entries(streams)) {
    const chain = new ManualChain();
    const { closed, subscription } = client(topic);
    const end = await subscribe(chain, subscription);
    chain.reorgDeeply();
    assert.deepEqual(closed, [[1013, 'reorg too deep to report removals; reconnect and reload']]);
    end?.();
    chain.reorgDeeply();
    assert.deepEqual([closed.length, chain.users], [1, 0], topic);
  }
});

test('a deep reorg between the logs of a block leaves the logs of later blocks removable', async (t) => {
  const chain = new ManualChain();
  const logs = new LogStream(chain, talkativeNode(1, 20_000), log);
  t.after(() => logs.close());
  const { closed, subscription } = client('logs');
  let pushed = 0;
  subscription.push = () => {
    if (++pushed === 1_000) chain.reorgDeeply();
  };
  await logs.subscribe(parseLogFilter({}), subscription);
  chain.add(1, 2);
  await waitFor(() => pushed === 20_001, { what: 'the logs of both blocks' });
  assert.equal(closed.length, 1, 'for the deep reorg');
  chain.remove(2);
  assert.equal(pushed, 20_002, 'the log of the second block comes again as removed');
  assert.equal(closed.length, 1);
});

test('the event loop turns while the logs of a large block are sent as removed, and later blocks wait', async (t) => {
  const COUNT = 10_000;
  const chain = new ManualChain();
  const logs = new LogStream(chain, talkativeNode(1, COUNT), log);
  t.after(() => logs.close());
  const { closed, subscription } = client('logs');
  const pushed: boolean[] = [];
  subscription.push = (notification) => {
    const { params } = JSON.parse(String(notification.messageFor(new Uint8Array())));
    pushed.push(params.result.removed === true);
  };
  await logs.subscribe(parseLogFilter({}), subscription);
  chain.add(1, 1);
  await waitFor(() => pushed.length === COUNT, { what: 'the logs of the block' });
  chain.remove(1);
  chain.add(2, 2);
  assert.ok(pushed.length < 2 * COUNT, 'not all in one turn');
  await waitFor(() => pushed.length === 2 * COUNT + 1, { what: 'the same as removed, and the next block' });
  assert.ok(pushed.slice(COUNT, 2 * COUNT).every((removed) => removed));
  assert.equal(pushed.at(-1), false);
  assert.deepEqual(closed, []);
});

test('removed logs free their bytes for those that may still be removed', async (t) => {
  const data = `0x${'00'.repeat(3_500_000)}`; // two such logs are kept, not three
  const chain = new ManualChain();
  const node = {
    batch: async () => [],
    call: async (_method: string, [filter]: readonly unknown[]) => [
      { ...(filter as object), address: '0x11', topics: [], data, blockNumber: '0x1', logIndex: '0x0' },
    ],
  };
  const logs = new LogStream(chain, node, log);
  t.after(() => logs.close());
  const { closed, subscription } = client('logs');
  let pushed = 0;
  subscription.push = () => {
    pushed++;
  };
  await logs.subscribe(parseLogFilter({}), subscription);
  for (let number = 1; number <= 4; number++) {
    chain.add(number, number);
    await waitFor(() => pushed === 2 * number - 1, { what: `the log of block ${number}` });
    chain.remove(number);
    await waitFor(() => pushed === 2 * number, { what: `that log as removed; closed: ${closed}` });
  }
  assert.deepEqual(closed, []);
});
