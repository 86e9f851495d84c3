/** The first block of a new index beside a node whose head moves. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { z } from 'zod';
import { endProcess, listeningAddress, spawnAnvil } from '../../src/dev/anvil.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { startIndexer, startIndexerThread } from '../support/index/indexer.ts';
import { NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** Starts an index from the earliest block. Resolves with its first block and the log once it follows the head. */
async function beginBeside(t: TestContext, http: string): Promise<{ first: number | null; logs: string }> {
  const indexer = startIndexer(t, {
    http,
    dir: tempDir(t),
    index: { startBlock: 'earliest', confirmMs: 200 },
  });
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
  const ofReceipt = z.object({ blockNumber: z.string() });
  node.misbehave({
    replace(method, params, result) {
      if (method === 'eth_getBlockReceipts') return isPruned(Number(params[0])) ? null : result;
      if (method !== 'eth_getTransactionReceipt') return result;
      return isPruned(Number(ofReceipt.parse(result).blockNumber)) ? null : result;
    },
  });
  const { first, logs } = await beginBeside(t, node.url);
  const oldest = Number(/"oldest":(\d+)/.exec(logs)?.[1]);
  assert.ok(first !== null && first > oldest, logs);
  assert.doesNotMatch(logs, /gave no usable answer/);
});

/** How nodes refuse to trace a block whose state they have dropped, by block and block number. */
const REFUSALS: Record<string, (number: number, hash: string) => string> = {
  'geth with path scheme': () => 'historical state not available in path scheme yet',
  'geth with hash scheme': (number, hash) =>
    `missing trie node ${hash.slice(2)} (path 0${number % 10}0f) state ${hash} is not available, not found`,
  Nethermind: (number, hash) => `No state available for block ${number} (${hash})`,
  'Nethermind without history': () => 'Pruned history unavailable',
  Erigon: (number) => `historical state of block ${number} has been pruned`,
  'Cosmos SDK': (number) =>
    `failed to load state at height ${number}; version does not exist (latest height: 60)`,
};

/** A node of 60 blocks that refuses to trace those below 40. */
async function startPruned(t: TestContext, refuse: (number: number, hash: string) => string) {
  const { node: real, blocks } = await startGeneratedNode(t, {
    seed: 5,
    blocks: 60,
    startBlock: 1,
    txPerBlock: 12,
  });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const numberOf = new Map<unknown, number>();
  for (const { number, hash, trace } of blocks)
    for (const id of [
      hash,
      ...(JSON.parse(trace ?? '[]') as { txHash: string }[]).map(({ txHash }) => txHash),
    ])
      numberOf.set(id, number);
  node.misbehave({
    replace(method, [id], result) {
      const number = numberOf.get(id) ?? 60;
      if (method.startsWith('debug_trace') && number < 40)
        throw new NodeError(-32_000, refuse(number, `${id}`));
      return result;
    },
  });
  return node;
}

for (const [software, refuse] of Object.entries(REFUSALS))
  test(`a full ${software} is recognised as pruned, whatever its words`, async (t) => {
    const node = await startPruned(t, refuse);
    const { first, logs } = await beginBeside(t, node.url);
    assert.equal(first, 40, logs);
    assert.match(logs, /making sure that the node has pruned/);
  });

test('a busy node is waited for and loses no history, whatever it answers', async (t) => {
  for (const message of ['internal error', 'overloaded, try again later', 'execution timeout']) {
    const node = await startPruned(t, () => message);
    const indexer = startIndexer(t, {
      http: node.url,
      dir: tempDir(t),
      index: { startBlock: 'earliest', confirmMs: 100 },
    });
    await waitFor(() => indexer.status().startBlock === 1, { what: 'the first block' });
    node.misbehave({});
    await indexer.reaches(60);
  }
});

test('a start_block that the node has pruned ends the program as a wrong setting, with both ways out', async (t) => {
  const node = await startPruned(t, () => 'missing trie node');
  const indexer = startIndexerThread(t, {
    http: node.url,
    dir: tempDir(t),
    index: { startBlock: 7, confirmMs: 100 },
  });
  await assert.rejects(indexer.client.ended, (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(
      error.message,
      /start_block is 7, but .* below 40 .*missing trie node.*archive node.*"earliest"/,
    );
    return true;
  });
});
