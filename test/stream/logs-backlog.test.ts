/** A node that gives blocks and hardly any logs, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/log.ts';
import type { ChainListener } from '../../src/stream/chain.ts';
import type { ChainBlock } from '../../src/stream/chain-block.ts';
import { ChainLogs } from '../../src/stream/chain-logs.ts';
import { parseLogFilter } from '../../src/stream/log-filter.ts';
import { Logs } from '../../src/stream/logs.ts';
import { NodeSource } from '../../src/stream/node-source.ts';
import { Subscription } from '../../src/stream/subscription.ts';
import type { Hex } from '../../src/types.ts';
import { RpcClient } from '../../src/upstream/client.ts';
import { startMisbehavingNode } from '../support/misbehaving-node.ts';

const MAX_WAITING = 16_384;

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

const block = (number: number): ChainBlock => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  json: '{}',
  hasLogs: true,
  orphaned: false,
});

/** A chain whose blocks the test tells. */
class ToldChain {
  readonly tip = block(0);
  private listener: ChainListener | undefined;

  listen(listener: ChainListener): void {
    this.listener = listener;
  }

  async use(): Promise<() => void> {
    return () => undefined;
  }

  from(): ChainBlock[] {
    return [this.tip];
  }

  add(from: number, to: number): void {
    for (let number = from; number <= to; number++) this.listener?.added(block(number));
  }
}

/** A subscription, and why its client was closed. */
function client(topic: string) {
  const closed: unknown[] = [];
  const outlet = {
    backlog: 0,
    push: () => undefined,
    whenDrained: () => undefined,
    close: (code: number, reason: string) => closed.push([code, reason]),
  };
  return { closed, subscription: new Subscription(topic, outlet, { total: 0 }, 1_000) };
}

/** A node that never answers, and what it was asked. */
function silentNode() {
  const calls: string[] = [];
  const call = (method: string) => {
    calls.push(method);
    return new Promise<unknown>(() => undefined);
  };
  return { calls, call };
}

const log = createLogger({ level: 'error', format: 'json' });

test('clients are closed when the logs of too many blocks wait for the node', async (t) => {
  const chain = new ToldChain();
  const node = silentNode();
  const logs = new Logs(chain, node, log);
  t.after(() => logs.close());
  const { closed, subscription } = client('logs');
  const end = await logs.open(parseLogFilter({}), subscription);
  chain.add(1, MAX_WAITING);
  assert.deepEqual(closed, []);
  chain.add(MAX_WAITING + 1, MAX_WAITING + 1);
  assert.deepEqual(closed, [[1013, 'logs of the node cannot be caught up with']]);
  end();
  assert.equal(node.calls.length, 8, 'no more blocks are asked for at once than before');
});

test('blocks do not wait for their logs once nobody is left who wants them', async (t) => {
  const chain = new ToldChain();
  const logs = new Logs(chain, silentNode(), log);
  t.after(() => logs.close());
  const end = await logs.open(parseLogFilter({}), client('logs').subscription);
  chain.add(1, MAX_WAITING);
  end();
  const { closed, subscription } = client('logs');
  await logs.open(parseLogFilter({}), subscription);
  chain.add(MAX_WAITING + 1, 2 * MAX_WAITING - 1);
  assert.deepEqual(closed, []);
});

test('clients of chainLogs are closed when too many blocks wait, after the announcements broke off', async (t) => {
  const node = await startMisbehavingNode({});
  t.after(() => node.close());
  const rpc = new RpcClient({ url: 'http://127.0.0.1:1', timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  const source = new NodeSource({ wsUrl: node.wsUrl, client: rpc, log });
  t.after(() => source.close());
  const chain = new ToldChain();
  const chainLogs = new ChainLogs(chain, source, log);
  t.after(() => chainLogs.close());
  const { closed, subscription } = client('chainLogs');
  await chainLogs.open(parseLogFilter({}), false, subscription);
  const broken = new Promise<void>((resolve) => source.onConnection((connected) => !connected && resolve()));
  node.drop();
  await broken;
  chain.add(1, MAX_WAITING);
  assert.deepEqual(closed, []);
  chain.add(MAX_WAITING + 1, MAX_WAITING + 1);
  assert.deepEqual(closed, [[1013, 'logs of the node cannot be caught up with']]);
});
