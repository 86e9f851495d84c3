import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallRecorder } from '../../src/indexer/node-client.ts';

test('reports each call once, and bounds the calls between two reports', () => {
  const calls = new CallRecorder();
  for (let i = 0; i < 10_000; i++) calls.record('eth_call', 0.1, null);
  assert.equal(calls.drain().length, 5_000);
  assert.deepEqual(calls.drain(), []);
  calls.add([{ method: 'eth_chainId', seconds: 1, failure: 'timeout' }]);
  assert.deepEqual(calls.drain(), [{ method: 'eth_chainId', seconds: 1, failure: 'timeout' }]);
});
