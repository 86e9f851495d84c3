/** Test suites set a development node back hundreds of times. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import { toQuantity } from '../../src/lib/hex.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

test('an index follows a development node through any number of reverts, of any depth', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  let timestamp = 4_000_000_000;
  /** Mines blocks that differ from all earlier ones by their time. */
  const mine = async (count: number) => {
    timestamp += 1_000;
    await anvil.call('evm_setNextBlockTimestamp', [timestamp]);
    await anvil.call('anvil_mine', [toQuantity(count)]);
  };
  await mine(5);
  const indexer = startIndexer(t, { http: anvil.url, dir: tempDir(t), index: { startBlock: 0 } });
  const reachesHead = async () => {
    const head = (await anvil.call('eth_getBlockByNumber', ['latest', false])) as { hash: string };
    await waitFor(() => indexer.status().head?.hash === head.hash, { what: `block ${head.hash}` });
    return indexer.status();
  };
  await reachesHead();
  for (let round = 1; round <= 40; round++) {
    const snapshot = await anvil.call('evm_snapshot');
    const depth = round % 20 === 0 ? 200 : 1 + (round % 3);
    await mine(depth);
    if (round % 10 === 0) await reachesHead();
    assert.equal(await anvil.call('evm_revert', [snapshot]), true);
    await mine(round % 10 === 0 ? depth + 1 : 1); // an index waits for a node whose head is below its own
    if (round % 10 === 0) await reachesHead();
  }
  const { nodeChain, reorgs, deepestReorg, finality } = await reachesHead();
  assert.equal(nodeChain, 'same');
  assert.ok(reorgs >= 4, `${reorgs} reorgs`);
  assert.equal(deepestReorg, 200);
  assert.deepEqual([finality?.rule, finality?.reason.includes('is a development node')], ['depth', true]);
});
