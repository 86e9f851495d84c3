/** A node that answers and publishes what a test says, and subscriptions at it; all new for each test. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { UpstreamError } from '../../src/lib/errors.ts';
import { NodeSubscriptions, type NodeSubscriptionsOptions } from '../../src/node/connection.ts';
import { type MisbehavingNode, NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

export const FAST_RETRY = { first: 5, longest: 20 };

const open: { close(): Promise<void> }[] = [];

export let node: MisbehavingNode;
/** The log of the test: events, and its own notices. */
export let log: unknown[];
export let errors: UpstreamError[];

/** Call it in the body of the suite. */
export function renewForEachTest(): void {
  beforeEach(async () => {
    log = [];
    errors = [];
    node = await startMisbehavingNode({ answer: (method) => (method === 'eth_chainId' ? '0x1' : null) });
    open.push(node);
  });
  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close();
  });
}

export function start(options: Partial<NodeSubscriptionsOptions> = {}): NodeSubscriptions {
  const subscriptions = new NodeSubscriptions({
    url: node.wsUrl,
    retryMs: FAST_RETRY,
    onConnected: () => log.push('connected'),
    onDisconnected: (error) => {
      assert.ok(error instanceof UpstreamError);
      errors.push(error);
      log.push('disconnected');
    },
    ...options,
  });
  open.push(subscriptions);
  return subscriptions;
}

export function heads(subscriptions: NodeSubscriptions): () => void {
  return subscriptions.subscribe(['newHeads'], (event) => log.push(event), unexpected);
}

export function happened(...expected: unknown[]): Promise<unknown> {
  return waitFor(() => log.length >= expected.length, { what: JSON.stringify(expected) }).then(
    () => assert.deepEqual(log, expected),
    () => assert.deepEqual(log, expected),
  );
}

export function unexpected(value: unknown): never {
  throw new Error(`not expected: ${value instanceof NodeError ? value.message : JSON.stringify(value)}`);
}
