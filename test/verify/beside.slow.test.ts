import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { startAnvil } from '../../src/dev/anvil.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { nestedCleanup } from '../support/cleanup.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** Repeats an action until the returned function is called. */
function keepDoing(everyMs: number, action: (round: number) => unknown): () => Promise<void> {
  let stopped = false;
  const run = async (): Promise<void> => {
    for (let round = 1; !stopped; round++) {
      await action(round);
      await sleep(everyMs);
    }
  };
  const running = run();
  return async () => {
    stopped = true;
    await running;
  };
}

test('reports no false differences while the indexer follows a fast chain with reorgs', async (t) => {
  const cleanup = nestedCleanup(t);
  const chain = [...generateChain({ seed: 51, blocks: 600, txPerBlock: 12 }).blocks];
  const node = await startNode(cleanup, { chain, head: 100, finalizedLag: 128 });
  const indexer = startIndexer(cleanup, { http: node.url, dir: tempDir(cleanup) });
  await indexer.reaches(100);
  const stop = keepDoing(40, async (round) => {
    const head = node.mine();
    if (round % 15 === 0) node.fork(head - 1 - (round % 3));
    // A starved writer would fall behind forever, and verify could only report that.
    await waitFor(() => head - (indexer.status().head?.number ?? 0) < 20, {
      what: 'the writer to keep up',
    });
  });
  cleanup.after(stop);
  await waitFor(() => indexer.status().reorgs > 0, { what: 'the first rollback' });
  for (let seed = 1; seed <= 2; seed++) {
    const report = await verifyFile({ path: indexer.path, http: node.url, seed });
    assert.deepEqual(differencesOf(report), []);
  }
});

test('balances, fees and tokens agree while the indexer follows a development node', async (t) => {
  const cleanup = nestedCleanup(t);
  const anvil = await startAnvil({ blockTimeMs: 300 });
  cleanup.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url);
  const indexer = startIndexer(cleanup, {
    http: anvil.url,
    dir: tempDir(cleanup),
    wrappedNative: [contracts.wrapped],
  });
  const traffic = generateTraffic(anvil.url, contracts, { rounds: 3 });
  await waitFor(() => (indexer.status().head?.number ?? 0) > 3, { what: 'some blocks' });
  const { wrapped } = contracts;
  for (let seed = 1; seed <= 3; seed++) {
    const report = await verifyFile({ path: indexer.path, http: anvil.url, wrappedNative: [wrapped], seed });
    assert.deepEqual(differencesOf(report), []);
    assert.deepEqual(
      report.tokens.filter(({ quality }) => quality !== 'exact'),
      [],
      'the demo tokens are well-behaved',
    );
  }
  await traffic;
});
