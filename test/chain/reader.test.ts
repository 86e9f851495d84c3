import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChainReader } from '../../src/chain/block.ts';
import { RpcClient } from '../../src/node/client.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const HEADER = {
  number: '0x5',
  hash: `0x${'b5'.repeat(32)}`,
  parentHash: `0x${'b4'.repeat(32)}`,
  timestamp: '0x1',
};

test('fetched heads have the members of announced ones, including those that a node upgrade adds', async (t) => {
  const node = await startMisbehavingNode({
    answer: () => ({ ...HEADER, slotNumber: '0x9', transactions: [], size: '0x1' }),
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  t.after(() => client.close());
  const reader = new ChainReader(client);
  const fetchMembers = async () => {
    const { json } = await reader.fetchBlock('latest', new AbortController().signal);
    return Object.keys(JSON.parse(json));
  };
  assert.deepEqual(await fetchMembers(), [...Object.keys(HEADER), 'slotNumber', 'size']);
  reader.readAnnounced(HEADER);
  assert.deepEqual(await fetchMembers(), Object.keys(HEADER));
  reader.readAnnounced({ ...HEADER, slotNumber: '0x9' });
  assert.deepEqual(await fetchMembers(), [...Object.keys(HEADER), 'slotNumber']);
});
