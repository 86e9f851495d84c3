/** Trace calls in the form that the node takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcClient } from '../../src/node/client.ts';
import { traceCall } from '../../src/node/methods.ts';
import { batchTraces } from '../../src/node/trace-calls.ts';
import { NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

test('batches in flight while the node refuses the timeout are all sent again without it', async (t) => {
  const node = await startMisbehavingNode({
    answer: (_method, [, options]) => {
      if (JSON.stringify(options).includes('timeout'))
        throw new NodeError(-32602, "Invalid parameter 'timeout' for TracerConfigWrapper");
      return [];
    },
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 5_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const call = traceCall(1, `0x${'ab'.repeat(32)}`, 'debug_traceBlockByNumber', client.timeoutMs);
  const replies = await Promise.all([1, 2, 3].map(() => batchTraces(client, [call])));
  assert.deepEqual(replies.flat(), [{ result: [] }, { result: [] }, { result: [] }]);
});
