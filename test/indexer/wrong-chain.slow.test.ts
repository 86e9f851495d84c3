/** The index beside nodes that would destroy it: on another chain, behind, reset, or deep in another branch. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import type { ReplayOptions } from '../../scripts/simulator/replay/options.ts';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { AnchorTable, type ChainAnchors } from '../../src/store/chain-anchors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { type IndexerOptions, startIndexer, type TestIndexer } from '../support/index/indexer.ts';
import { repairFile } from '../support/index/verify.ts';
import { startSwitchingProxy } from '../support/nodes/http-proxy.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const CHAIN_ID = 7;
/** Low, so that short chains can exceed it. */
const MAX_REORG = 16;

function chainOf(seed: number, blocks: number) {
  return [...generateChain({ seed, blocks, txPerBlock: 8 }).blocks];
}

/** Only its first block is finalized. */
function nodeOf(
  t: TestContext,
  seed: number,
  options: ReplayOptions & { blocks: number },
): Promise<ReplayNode> {
  const { blocks, ...rest } = options;
  return startNode(t, { chainId: CHAIN_ID, finalizedLag: 10_000, chain: chainOf(seed, blocks), ...rest });
}

function index(t: TestContext, http: string, dir: string, more: Partial<IndexerOptions> = {}): TestIndexer {
  return startIndexer(t, {
    http,
    dir,
    ...more,
    index: { maxReorg: MAX_REORG, ...more.index },
  });
}

/** Raises the head of a node until it has proved its tag. */
async function proveTag(node: ReplayNode, indexer: TestIndexer, last: number): Promise<void> {
  for (const [polls, head] of [last - 2, last - 1].entries()) {
    node.setHead(head);
    const isCounted = () => indexer.status().finality?.reason.includes(`${polls + 1} of 3`) === true;
    await waitFor(isCounted, { what: `poll ${polls + 1} of the proof` });
  }
  node.setHead(last);
  await waitFor(() => indexer.status().finality?.rule === 'tag', { what: 'the proof' });
}

/** Reads beside the running writer. */
function anchorsOf(path: string): ChainAnchors {
  const db = openIndexForReading(path);
  const anchors = new AnchorTable(db).read();
  db.close();
  return anchors;
}

function rollbacksOf({ watermarks }: TestIndexer): number[] {
  return watermarks.flatMap((mark) => (mark.kind === 'rolled-back' ? [mark.to] : []));
}

async function stands(indexer: TestIndexer, nodeChain: string): Promise<string> {
  await waitFor(() => indexer.status().nodeChain === nodeChain, {
    what: `the state ${nodeChain}; ${indexer.logs.join('\n')}`,
  });
  return indexer.status().reason ?? '';
}

for (const [what, head] of [
  ['lower', 15],
  ['higher', 50],
] as const) {
  test(`a node of another chain with the same chain id, ${what} than the index, changes nothing`, async (t) => {
    const right = await nodeOf(t, 1, { blocks: 40, head: 30 });
    const wrong = await nodeOf(t, 2, { blocks: 50, head });
    const proxy = await startSwitchingProxy(t, right.url);
    const dir = tempDir(t);
    const first = index(t, proxy.url, dir);
    await first.reaches(30);

    proxy.switchTo(wrong.url);
    const reason = await stands(first, 'another_chain');
    assert.match(reason, /its block 1 is 0x[0-9a-f]{64}, the index has 0x[0-9a-f]{64}/);
    assert.equal(first.status().phase, 'paused');
    proxy.switchTo(right.url);
    await stands(first, 'same');
    assert.equal(first.status().phase, 'following');
    await first.client.stop();
    const before = dumpIndex(first.path);

    proxy.switchTo(wrong.url);
    const second = index(t, proxy.url, dir);
    await stands(second, 'another_chain');
    assert.equal(second.status().head?.number, 30);
    assert.ok(second.logs.some((line) => /^error indexing is paused .*another_chain/.test(line)));
    proxy.switchTo(right.url);
    right.setHead(40);
    await second.reaches(40);
    await second.client.stop();
    assert.deepEqual([...rollbacksOf(first), ...rollbacksOf(second)], []);
    const kept = new Set(dumpIndex(second.path));
    const lost = before.filter((row) => /^(blocks|transfers) /.test(row) && !kept.has(row));
    assert.deepEqual(lost, []);
  });
}

test('a node that is behind on another branch is waited for', async (t) => {
  const right = await nodeOf(t, 3, { blocks: 50, head: 40 });
  const stale = await nodeOf(t, 3, { blocks: 50, head: 40 });
  stale.fork(31);
  stale.setHead(33);
  const proxy = await startSwitchingProxy(t, right.url);
  const indexer = index(t, proxy.url, tempDir(t));
  await indexer.reaches(40);
  proxy.switchTo(stale.url);
  assert.match(await stands(indexer, 'behind'), /the node is 7 blocks behind the index/);
  assert.equal(indexer.status().phase, 'paused');
  stale.setHead(39);
  await waitFor(() => indexer.status().nodeHead === 39, { what: 'the head below that of the index' });
  assert.deepEqual(rollbacksOf(indexer), []);
  stale.setHead(40); // a head at the index's height proves another branch
  await waitFor(() => rollbacksOf(indexer).length > 0, { what: 'the rollback' });
  await indexer.client.stop();
  assert.deepEqual(rollbacksOf(indexer), [30]);
  assert.ok(indexer.logs.some((line) => /^warn rolling back a reorg .*"depth":10/.test(line)));
});

for (const depth of [MAX_REORG, MAX_REORG + 1]) {
  const isAllowed = depth <= MAX_REORG;
  test(`a reorg of ${depth} blocks is ${isAllowed ? 'rolled back' : 'refused until a repair'}`, async (t) => {
    const node = await nodeOf(t, 4, { blocks: 60, head: 50 });
    const dir = tempDir(t);
    const indexer = index(t, node.url, dir);
    await indexer.reaches(50);
    node.fork(51 - depth);
    if (isAllowed) {
      await waitFor(() => rollbacksOf(indexer).length > 0, { what: 'the rollback' });
      assert.deepEqual(rollbacksOf(indexer), [50 - depth]);
    } else {
      const reason = await stands(indexer, 'reorg_too_deep');
      assert.match(
        reason,
        /above block 33, 17 blocks deep.*index\.max_reorg is 16.*verify --repair 34\.\.34/,
      );
      assert.deepEqual(rollbacksOf(indexer), []);
      await indexer.client.stop();
      const { replacedFrom, head } = await repairFile(indexer.path, node.url, 34, 34);
      assert.deepEqual({ replacedFrom, head: head.number }, { replacedFrom: 34, head: 50 });
    }
    const last = isAllowed ? indexer : index(t, node.url, dir);
    node.mine();
    await last.reaches(51);
    assert.equal(last.status().nodeChain, 'same');
    await last.client.stop();
    const fresh = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
    assert.deepEqual(dumpIndex(last.path), dumpIndex(fresh));
  });
}

test('a final block that the node proved is never rolled back, also after a restart', async (t) => {
  const node = await nodeOf(t, 5, { blocks: 50, head: 38, finalizedLag: 10 });
  const dir = tempDir(t);
  const first = index(t, node.url, dir);
  await proveTag(node, first, 40);
  await waitFor(() => anchorsOf(first.path).finalized === 30, { what: 'the finalized block' });
  assert.deepEqual(first.status().finality, {
    rule: 'tag',
    reason: 'the node calls blocks finalized',
    block: 30,
  });
  node.fork(35);
  await waitFor(() => rollbacksOf(first).length > 0, { what: 'the rollback above the finalized block' });
  await waitFor(() => first.watermarks.at(-1)?.to === 40, { what: 'the new branch' });
  await first.client.stop();
  assert.equal(anchorsOf(first.path).finalized, 30);
  node.fork(30);
  const second = index(t, node.url, dir);
  assert.match(
    await stands(second, 'reorg_below_finalized'),
    /above block 29, but blocks up to 30 were final/,
  );
  assert.deepEqual(rollbacksOf(second), []);
  assert.equal(second.status().head?.number, 40);
});

test('a node that calls its latest block final proves nothing: its reorgs are followed', async (t) => {
  const node = await nodeOf(t, 5, { blocks: 60, head: 42, finalizedLag: 0 });
  const dir = tempDir(t);
  const first = index(t, node.url, dir);
  const isPolled = () => first.status().finality?.reason.includes('0 of 3') === true;
  await waitFor(isPolled, { what: 'a poll of the final block' });
  assert.equal(anchorsOf(first.path).finalized, null);
  const { rule, block } = first.status().finality ?? {};
  assert.deepEqual({ rule, block }, { rule: 'depth', block: 42 - MAX_REORG });
  node.fork(38);
  await waitFor(() => rollbacksOf(first).length > 0, { what: 'the rollback' });
  await first.client.stop();
  node.fork(35);
  const second = index(t, node.url, dir);
  await waitFor(() => second.watermarks.at(-1)?.to === 42, { what: 'the branch after a restart' });
  assert.deepEqual(rollbacksOf(second), [34]);
});

test('an index whose blocks are final at once is never rolled back', async (t) => {
  const node = await nodeOf(t, 5, { blocks: 50, head: 40 });
  const indexer = index(t, node.url, tempDir(t), { index: { finality: 'instant' } });
  await waitFor(() => anchorsOf(indexer.path).finalized === 40, { what: 'the final block' });
  node.fork(40);
  assert.match(
    await stands(indexer, 'reorg_below_finalized'),
    /above block 39, but all blocks .* were final/,
  );
});

test('an index of final blocks ends max_reorg below the head where the depth decides', async (t) => {
  const node = await nodeOf(t, 5, { blocks: 50, head: 40 });
  const indexer = index(t, node.url, tempDir(t), { index: { head: 'finalized', finality: 'depth' } });
  await indexer.reaches(40 - MAX_REORG);
  assert.equal(indexer.status().phase, 'following');
  assert.deepEqual(indexer.status().head?.number, 40 - MAX_REORG);
});

test('a reorg that was interrupted is bounded by where it began', async (t) => {
  const node = await nodeOf(t, 6, { blocks: 60, head: 50 });
  const dir = tempDir(t);
  const first = index(t, node.url, dir);
  await first.reaches(50);
  await first.client.stop();
  const writer = new IndexWriter(first.path, { cacheMb: 8 });
  writer.setReorgFrom(50); // killed after some steps of a rollback
  writer.rollback(40);
  writer.close();
  node.fork(31);
  node.setHead(49);
  const second = index(t, node.url, dir);
  await waitFor(() => second.status().nodeHead === 49, { what: 'the node to be read' });
  assert.deepEqual(rollbacksOf(second), []);
  node.setHead(55);
  assert.match(await stands(second, 'reorg_too_deep'), /20 blocks deep/);
  assert.deepEqual(rollbacksOf(second), []);
  assert.equal(second.status().head?.number, 40);
});

test('the first block may be replaced soon after the start, by a block of the same parent', async (t) => {
  const node = await nodeOf(t, 8, { blocks: 40, head: 12 });
  const indexer = index(t, node.url, tempDir(t), { index: { startBlock: 10 } });
  await indexer.reaches(12);
  node.fork(10);
  node.mine();
  await indexer.reaches(13);
  assert.deepEqual(rollbacksOf(indexer), [9]);
  node.fork(9);
  node.mine();
  assert.match(await stands(indexer, 'another_chain'), /its block 10 is/);
});

/** Mines at other times, because two chains that start in the same second are equal, block for block. */
async function mineOther(anvil: Anvil, count: string): Promise<void> {
  await anvil.call('evm_increaseTime', ['0x3e8']);
  await anvil.call('anvil_mine', [count]);
}

test('a local chain that is reset or replaced changes nothing, and block 0 is recorded', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  await anvil.call('anvil_mine', ['0xa0']);
  const proxy = await startSwitchingProxy(t, anvil.url);
  const dir = tempDir(t);
  const first = index(t, proxy.url, dir, { index: { startBlock: 5 } });
  await first.reaches(160);
  await waitFor(() => anchorsOf(first.path).genesis !== null, { what: 'block 0 to be recorded' });
  await first.client.stop();
  const { genesis } = anchorsOf(first.path);
  assert.match(genesis ?? '', /^0x[0-9a-f]{64}$/);

  const second = index(t, proxy.url, dir, { index: { startBlock: 5 } });
  await second.reaches(160);
  const other = await startAnvil({ manual: true });
  t.after(() => other.stop());
  await mineOther(other, '0x14');
  proxy.switchTo(other.url);
  assert.match(await stands(second, 'another_chain'), /its block [05] is 0x\w{64}, the index has 0x\w{64}/);
  await other.call('anvil_mine', ['0xc0']);
  await second.client.stop();
  const third = index(t, proxy.url, dir, { index: { startBlock: 5 } });
  await stands(third, 'another_chain');
  proxy.switchTo(anvil.url);
  await anvil.call('anvil_mine', ['0x1']);
  await third.reaches(161);
  assert.deepEqual([...rollbacksOf(second), ...rollbacksOf(third)], []);
});

test('an index whose block 0 is missing or wrong gets it from a node that agrees, and from no other', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const other = await startAnvil({ manual: true });
  t.after(() => other.stop());
  await anvil.call('anvil_mine', ['0x14']);
  await mineOther(other, '0x28');
  const dir = tempDir(t);
  const settings = { index: { startBlock: 5 } };
  const first = index(t, anvil.url, dir, settings);
  await first.reaches(20);
  await first.client.stop();
  const setGenesis = (hash: Hex | null) => {
    const writer = new IndexWriter(join(dir, 'index.db'), { cacheMb: 8 });
    writer.setGenesis(hash);
    writer.close();
  };
  const { genesis } = anchorsOf(first.path);
  setGenesis(null);
  const beside = index(t, other.url, dir, settings);
  await stands(beside, 'another_chain');
  await beside.client.stop();
  assert.equal(anchorsOf(first.path).genesis, null);
  const again = index(t, anvil.url, dir, settings);
  await waitFor(() => anchorsOf(again.path).genesis === genesis, { what: 'block 0 to be recorded' });
  await again.client.stop();
  setGenesis(`0x${'00'.repeat(32)}`); // changed by the disk
  const corrected = index(t, anvil.url, dir, settings);
  await waitFor(() => anchorsOf(corrected.path).genesis === genesis, { what: 'block 0 to be corrected' });
  await corrected.client.stop();
});
