/** The first block of a new index beside a node whose head moves. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endProcess, listeningAddress, spawnAnvil } from '../../src/dev/anvil.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** Starts an index from the earliest block. Resolves with its first block and the log once it follows the head. */
async function beginBeside(t: TestContext, http: string): Promise<{ first: number | null; logs: string }> {
  const indexer = startIndexer(t, { http, dir: tempDir(t), index: { startBlock: 'earliest' } });
  await waitFor(() => indexer.status().phase === 'following' && indexer.status().head !== null, {
    what: 'the index to follow the head',
  });
  await indexer.client.stop();
  return { first: indexer.status().startBlock, logs: indexer.logs.join('\n') };
}

test('starts at the first block of an unpruned chain while its head moves', async (t) => {
  const { node } = await startGeneratedNode(
    t,
    { seed: 3, blocks: 2_000, startBlock: 1, txPerBlock: 2 },
    { blockTimeMs: 50 },
  );
  await waitFor(() => node.stats().head >= 40, { what: 'forty blocks' });
  const { first, logs } = await beginBeside(t, node.url);
  assert.equal(first, 1, logs);
});

test('starts at block 0 of an anvil that mines every second', async (t) => {
  const anvil = spawnAnvil(['--host', '127.0.0.1', '--port', '0', '--block-time', '1']);
  t.after(() => endProcess(anvil));
  const { first, logs } = await beginBeside(t, `http://${await listeningAddress(anvil)}`);
  assert.equal(first, 0, logs);
});

test('starts above the blocks that a pruning node drops next', async (t) => {
  const { node: real } = await startGeneratedNode(
    t,
    { seed: 4, blocks: 2_000, startBlock: 1, txPerBlock: 2 },
    { blockTimeMs: 200 }, // slow enough for a busy machine to keep up
  );
  await waitFor(() => real.stats().head >= 65, { what: 'blocks that are pruned' });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const isPruned = (number: number) => number <= real.stats().head - 60;
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && isPruned(Number(params[0])) ? null : result,
  });
  const { first, logs } = await beginBeside(t, node.url);
  const oldest = Number(/"oldest":(\d+)/.exec(logs)?.[1]);
  assert.ok(first !== null && first > oldest, logs);
  assert.doesNotMatch(logs, /gave no usable answer/);
});
