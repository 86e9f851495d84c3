import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcClient } from '../../src/node/client.ts';
import { NodeConnection } from '../../src/node/connection.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

test('losing the WebSocket is logged once, not for every attempt to reconnect', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (_: object, msg: string) => warnings.push(msg), error() {} };
  const client = new RpcClient({ url: node.url, timeoutMs: 1_000, maxSockets: 1, maxBatch: 1 });
  const connection = new NodeConnection({ wsUrl: node.wsUrl, client, log });
  t.after(() => connection.close());
  let breaks = 0;
  connection.onConnectionChange((connected) => {
    if (!connected) breaks++;
  });
  connection.subscriptions?.subscribe(
    ['newHeads'],
    () => undefined,
    () => undefined,
  );
  for (const times of [1, 2]) {
    await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
    const before = breaks;
    await node.close();
    await waitFor(() => breaks >= before + 3, { what: 'attempts to reconnect' });
    assert.equal(warnings.length, times);
    await node.listen();
  }
});
