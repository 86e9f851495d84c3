/** A rollback of many transfers, killed half-way. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EVENT, topic } from '../../scripts/simulator/chain/abi.ts';
import { batchData } from '../../scripts/simulator/chain/activity/erc1155.ts';
import type { GeneratedBlock } from '../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { toQuantity } from '../../src/lib/hex.ts';
import { readLastBlock } from '../../src/store/chain.ts';
import { AnchorTable } from '../../src/store/chain-anchors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { LAUNCHER, readyUrl, start } from '../support/daemon/command.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/**
 * A chain of 140 blocks whose last log moves 220 ids of an ERC-1155 token: as many transfers in other transactions
 * would be ten times the JSON.
 */
function chainOfBatches(seed: number): GeneratedBlock[] {
  const ids = Array.from({ length: 220 }, (_, id) => BigInt(id));
  const data = batchData(
    ids,
    ids.map((id) => id + 1n),
  );
  const topics = [EVENT.transferBatch, ...[1, 0, 2].map((digit) => topic(`0x${String(digit).repeat(40)}`))];
  return [...generateChain({ seed, blocks: 140, txPerBlock: 8 }).blocks].map((block) => {
    const receipts: { logs: { logIndex: string }[] }[] = JSON.parse(block.receipts);
    const logs = receipts.findLast((receipt) => receipt.logs.length > 0)?.logs;
    const last = logs?.at(-1);
    if (last === undefined) return block;
    logs?.push(Object.assign({}, last, { logIndex: toQuantity(Number(last.logIndex) + 1), topics, data }));
    return { ...block, receipts: JSON.stringify(receipts) };
  });
}

/** Where the reorg that the file remembers began. */
function reorgFromOf(path: string): number | null {
  const db = openIndexForReading(path);
  const { reorgFrom } = new AnchorTable(db).read();
  db.close();
  return reorgFrom;
}

test('a rollback that is killed half-way keeps its bound and is continued', async (t) => {
  // The reorg removes more transfers than one step of a rollback takes, 20,000.
  const node = await startNode(t, {
    chain: chainOfBatches(9),
    chainId: 7,
    head: 130,
    finalizedLag: 1_000,
  });
  const dir = tempDir(t);
  const path = join(dir, 'index.db');
  const args = ['start', '--data-dir', dir, '--port', '0', '--node-http', node.url, '--start-block', '1'];
  const daemon = start(t, [LAUNCHER, ...args], { cwd: dir });
  const url = await readyUrl(daemon);
  await waitFor(async () => /"phase":"following"/.test(await (await fetch(`${url}/status`)).text()), {
    what: 'the head',
  });
  node.fork(21);
  const reader = openIndexForReading(path);
  t.after(() => reader.close());
  const isHalfWay = () => {
    const { number } = readLastBlock(reader) ?? { number: 0 };
    return number < 130 && number > 20;
  };
  const isLogged = () => /rolling back a reorg/.test(daemon.stderr() + daemon.stdout());
  await waitFor(() => isLogged() && isHalfWay(), { what: 'the middle of the rollback', everyMs: 2 });
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  assert.ok(isHalfWay(), 'it was killed before the end');
  assert.equal(reorgFromOf(path), 130);

  const replaced = node.fork(2);
  const indexer = startIndexer(t, { http: node.url, dir, index: { maxReorg: 128 } }); // as the daemon's
  await waitFor(() => indexer.status().nodeChain === 'reorg_too_deep', { what: 'the refusal of the reorg' });
  assert.match(indexer.status().reason ?? '', /129 blocks deep/);
  assert.ok(indexer.watermarks.every((mark) => mark.kind !== 'rolled-back'));
  node.fork(2, replaced);
  node.setHead(140);
  await indexer.reaches(140);
  await indexer.client.stop();
  const fresh = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
  assert.deepEqual(dumpIndex(indexer.path), dumpIndex(fresh));
});
