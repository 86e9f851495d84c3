import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { repairFile } from '../support/index/verify.ts';
import { hideTransfers } from '../support/nodes/hide-transfers.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { assertWhole, type KillPoint, repairProcess } from '../support/runs/repair-kills.ts';
import { tempDir } from '../support/temp-dir.ts';

const HEAD = 80;
const FIRST_WRONG = 32;

/** Starts an indexer on a file until it has reached the head. */
async function startOn(t: TestContext, url: string, dir: string): Promise<void> {
  const indexer = startIndexer(t, { http: url, dir });
  await indexer.reaches(HEAD);
  await indexer.client.stop();
}

test('a repair killed at any step, and then a start, a repair or both, end row for row as a fresh index', async (t) => {
  const chain = [...generateChain({ seed: 41, blocks: HEAD, txPerBlock: 10 }).blocks];
  const node = await startNode(t, { chain });
  const liar = await startMisbehavingNode({ upstream: node.url });
  t.after(() => liar.close());
  liar.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && Number(params[0]) === FIRST_WRONG
        ? hideTransfers(result, (at, count) => at === count - 1)
        : result,
  });
  const wrong = await buildIndex({ url: liar.url, dir: tempDir(t), startBlock: 1 });
  const fresh = dumpIndex(await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 }));
  assert.notDeepEqual(dumpIndex(wrong), fresh);

  const whole = join(tempDir(t), 'index.db');
  copyFileSync(wrong, whole);
  const { steps } = await repairProcess({ path: whole, url: node.url, from: 1, to: 60 });
  assert.equal(steps.at(-1), `repaired from ${FIRST_WRONG}`);
  assert.deepEqual(dumpIndex(whole), fresh);
  const rewriting = steps.findIndex((step) => step.startsWith('indexing again')) + 1;
  assert.ok(
    rewriting > 2 && steps.length - rewriting > 3,
    `${steps.length} steps, rewriting from ${rewriting}`,
  );

  const kills: KillPoint[] = [
    { step: 1 },
    { step: rewriting },
    { step: rewriting + 1 },
    { step: steps.length - 1 },
    { afterMs: 30 },
  ];
  for (const kill of kills) {
    const what = `killed at ${JSON.stringify(kill)}`;
    const dir = tempDir(t);
    const path = join(dir, 'index.db');
    copyFileSync(wrong, path);
    const end = await repairProcess({ path, url: node.url, from: 1, to: 60 }, kill);
    assertWhole(path);
    await startOn(t, node.url, dir);
    const isRemoved = end.steps.some((step) => step.startsWith('indexing again'));
    if (isRemoved) assert.deepEqual(dumpIndex(path), fresh, `${what}, then a start`);
    await repairFile(path, node.url, 1, 60);
    assert.deepEqual(dumpIndex(path), fresh, `${what}, then a start and a repair`);
  }
});
