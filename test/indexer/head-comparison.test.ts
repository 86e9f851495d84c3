import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DifferingBlock, HeadComparison } from '../../src/indexer/head-comparison.ts';
import { RpcClient } from '../../src/node/client.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const hash = (chain: string, number: number) => `0x${chain.repeat(60)}${String(number).padStart(4, '0')}`;

test('a WebSocket of another chain with the same id is told after three blocks, a reorg or a lag is not', async (t) => {
  let height = 100;
  let chain = 'a';
  const node = await startMisbehavingNode({
    answer(_method, [id]) {
      const number = Number(id);
      if (number > height) return null;
      const [own, parent] = [hash(chain, number), hash(chain, number - 1)];
      return { number: id, hash: own, parentHash: parent, timestamp: '0x1', transactions: [] };
    },
  });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 10_000, maxSockets: 2, maxBatch: 8 });
  t.after(() => client.close());
  let found: DifferingBlock[] = [];
  const start = () => new HeadComparison(client, (differing) => found.push(differing), 0).compare;
  const { signal } = new AbortController();
  /** A head announced with the block's own hash or, as Cosmos chains do, another one. */
  const head = (number: number, from: string) => ({
    number: `0x${number.toString(16)}`,
    hash: hash('f', number),
    parentHash: hash(from, number - 1),
  });

  let compare = start();
  for (let number = 50; number < 60; number++) await compare(head(number, 'a'), signal);
  assert.deepEqual(found, []);
  assert.equal(node.requests.length, 1, 'one comparison a minute');

  compare = start();
  for (const number of [70, 71]) await compare(head(number, 'b'), signal);
  await compare(head(72, 'a'), signal);
  assert.deepEqual(found, [], 'a reorg');

  compare = start();
  for (const number of [300, 301, 302, 303]) await compare(head(number, 'b'), signal);
  for (const odd of [null, {}, { number: '0x0', parentHash: '0x' }, { number: 'x' }, { number: '0x5' }])
    await compare(odd, signal);
  assert.deepEqual(found, [], 'blocks that node_http does not have yet');
  height = 400;
  for (const number of [310, 311, 312]) await compare(head(number, 'b'), signal);
  assert.deepEqual(found, [{ block: 311, node_ws: hash('b', 311), node_http: hash('a', 311) }]);

  found = [];
  chain = 'b';
  await compare(head(320, 'b'), signal);
  assert.deepEqual(found, []);
});
