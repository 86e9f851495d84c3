import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer, startIndexerThread } from '../support/index/indexer.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { resultOf, startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { chainOf, freshIndex } from './indexed.ts';

/** Every row that an indexer thread stores of the node's chain. */
async function indexed(t: TestContext, url: string, head: number): Promise<string[]> {
  const indexer = startIndexer(t, { http: url, dir: tempDir(t) });
  await indexer.reaches(head);
  await indexer.client.stop();
  return dumpIndex(indexer.path);
}

test('a chain that grows while it is indexed is indexed like a chain that existed from the start', async (t) => {
  const blocks = chainOf(1, 120);
  const node = await startNode(t, { chain: blocks, head: 80 });
  const dir = tempDir(t);
  const indexer = startIndexer(t, { http: node.url, ws: node.wsUrl, dir });
  await indexer.reaches(80);
  for (let head = 81; head <= 120; head++) {
    node.mine();
    if (head % 7 === 0) await indexer.reaches(head);
  }
  await indexer.reaches(120, blocks.at(-1)?.hash);
  await indexer.client.stop();
  assert.deepEqual(dumpIndex(indexer.path), await freshIndex(t, node.url));
});

test('a node_ws on another chain is reported, one on the same chain is not', async (t) => {
  const node = await startNode(t, { chain: chainOf(1, 20), head: 20, chainId: 143 });
  const other = await startNode(t, { chain: chainOf(2, 20), head: 20, chainId: 10_143 });
  const startWith = (ws: string) => startIndexer(t, { http: node.url, ws, dir: tempDir(t) });
  const wrong = startWith(other.wsUrl);
  const found = () =>
    wrong.logs.find((line) => line.startsWith('error node_ws and node_http lead to different chains'));
  await waitFor(() => found() !== undefined, { what: 'the error' });
  assert.match(
    found() ?? '',
    /set both to the same node \{"node_ws":10143,"node_http":143,"advice":"correct node_ws or node_http"\}$/,
  );
  const right = startWith(node.wsUrl);
  await right.reaches(20);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(!right.logs.some((line) => line.includes('another chain')));
});

test('commits of few transfers are announced with the ids that they get, large ones are not', async (t) => {
  const chain = [...generateChain({ seed: 7, blocks: 25, startBlock: 1, txPerBlock: 300 }).blocks];
  const node = await startNode(t, { chain, head: 20 });
  const index = { batchTransfers: 100_000 };
  const indexer = startIndexerThread(t, { http: node.url, ws: node.wsUrl, dir: tempDir(t), index });
  await indexer.reaches(20);
  for (let head = 21; head <= 25; head++) {
    node.mine();
    await indexer.reaches(head);
  }
  await indexer.client.stop();
  const lastTransfers = lastTransferByBlock(indexer.path);
  for (const { blocks, before } of indexer.announced) {
    const [first, last] = [blocks.batches[0]!, blocks.batches.at(-1)!];
    const watermark = indexer.watermarks[before]!;
    assert.ok(watermark.kind === 'committed');
    assert.deepEqual([watermark.from, watermark.to], [first.number[0], last.number.at(-1)]);
    assert.equal(blocks.firstTransfer, (lastTransfers.get(watermark.from - 1) ?? 0) + 1);
    const count = lastTransfers.get(watermark.to)! - blocks.firstTransfer + 1;
    assert.equal(
      blocks.batches.reduce((sum, { transferCount }) => sum + transferCount, 0),
      count,
    );
    assert.ok(count > 0 && count <= 4_000);
  }
  assert.ok(indexer.announced.length >= 5);
  assert.ok(indexer.watermarks.length > indexer.announced.length);
});

/** Id of the last transfer up to and including each block. */
function lastTransferByBlock(path: string): Map<number, number> {
  const db = openIndexForReading(path);
  const rows = db
    .prepare<[], { number: number; last_transfer: number }>('SELECT number, last_transfer FROM blocks')
    .all();
  db.close();
  return new Map(rows.map(({ number, last_transfer }) => [number, last_transfer]));
}

test('an indexer thread that fails or exits is reported', async (t) => {
  for (const [end, told] of [
    [(thread: Worker) => thread.postMessage(null), /^FatalError: the indexer thread failed: .*null/],
    [(thread: Worker) => thread.terminate(), /^FatalError: the indexer thread exited with code \d$/],
  ] as const) {
    const { client } = startIndexerThread(t, { http: 'http://127.0.0.1:1', dir: tempDir(t) });
    const thread = client['thread']['thread'];
    assert.ok(thread !== null);
    end(thread);
    await assert.rejects(client.ended, (error) => told.test(String(error)));
  }
});

test('a stop leaves everything in the file itself, though it is still open for reading', async (t) => {
  const node = await startNode(t, { chain: chainOf(2, 20), head: 20 });
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(20);
  const reader = openIndexForReading(indexer.path);
  t.after(() => reader.close());
  assert.ok(statSync(`${indexer.path}-wal`).size > 0);
  await indexer.client.stop();
  assert.equal(statSync(`${indexer.path}-wal`).size, 0);
});

test('after a stop at any point indexing resumes at the next block', async (t) => {
  const isOtherStart = (line: string) =>
    /index.start_block differs from the first block.*"wanted":7,"first":1/.test(line);
  const node = await startNode(t, { chain: chainOf(2, 60), head: 5 });
  const dir = tempDir(t);
  for (const head of [5, 17, 18, 60]) {
    node.setHead(head);
    const indexer = startIndexer(t, { http: node.url, dir, index: { batchTransfers: 50 } });
    await indexer.reaches(head);
    await indexer.client.stop();
    const first = indexer.watermarks[0];
    assert.equal(first?.kind, 'committed');
    assert.ok(!indexer.logs.some(isOtherStart));
  }
  const indexer = startIndexer(t, { http: node.url, dir, index: { startBlock: 7 } });
  await waitFor(() => indexer.logs.some(isOtherStart), { what: 'the warning' });
  await indexer.client.stop();
  assert.deepEqual(indexer.watermarks, [], 'nothing is indexed twice');
  assert.deepEqual(dumpIndex(indexer.path), await freshIndex(t, node.url));
});

test('large and small commits, and those that follow the head afterwards, give the same rows', async (t) => {
  const node = await startNode(t, { chain: chainOf(5, 66), head: 60 });
  const dumps = [];
  for (const index of [
    { batchTransfers: 20, backfillMemoryMb: 16 },
    { batchTransfers: 4_000_000, backfillMemoryMb: 512 },
  ]) {
    node.setHead(60);
    const indexer = startIndexer(t, { http: node.url, dir: tempDir(t), index });
    await indexer.reaches(60);
    for (let head = 61; head <= 66; head++) {
      node.setHead(head);
      await indexer.reaches(head);
    }
    await indexer.client.stop();
    dumps.push(dumpIndex(indexer.path));
  }
  assert.deepEqual(dumps[0], dumps[1]);
});

test('reorgs of growing depth while following end in the index of the branch that won', async (t) => {
  const blocks = chainOf(3, 70);
  const node = await startNode(t, { chain: blocks, head: 60, finalizedLag: 128 });
  const dir = tempDir(t);
  const indexer = startIndexer(t, { http: node.url, ws: node.wsUrl, dir });
  await indexer.reaches(60);
  for (const depth of [1, 2, 5, 20, 59]) {
    const head = indexer.status().head?.number ?? 0;
    await node.fork(head - depth + 1);
    node.mine();
    const canonical = await hashOf(node.url, head + 1);
    await indexer.reaches(head + 1, canonical);
  }
  await indexer.client.stop();
  assert.deepEqual(
    indexer.watermarks.filter((mark) => mark.kind === 'rolled-back').map((mark) => mark.to),
    [59, 59, 57, 43, 5],
  );
  assert.deepEqual(dumpIndex(indexer.path), await freshIndex(t, node.url));
});

async function hashOf(url: string, number: number): Promise<string> {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params: [`0x${number.toString(16)}`, false],
  };
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { result } = (await response.json()) as { result: { hash: string } };
  return result.hash;
}

test('without block receipts each transaction is requested, without traces only direct value is known', async (t) => {
  const blocks = chainOf(8, 12);
  const full = await startNode(t, { chain: blocks });
  const expected = await freshIndex(t, full.url);
  const single = await startNode(t, { chain: blocks, blockReceipts: false });
  assert.deepEqual(await indexed(t, single.url, 12), expected);
  const untraced = await startNode(t, { chain: blocks, traces: false });
  const indexer = startIndexer(t, { http: untraced.url, dir: tempDir(t) });
  await indexer.reaches(12);
  await indexer.client.stop();
  assert.equal(indexer.status().capabilities?.traces, null);
  assert.match(indexer.status().capabilities?.tracesReason ?? '', /trace/);
  assert.ok(!dumpIndex(indexer.path).some((row) => row.startsWith('transfers') && row.includes(' kind=2 ')));
});

test('answers over the size limit of the node are fetched piece by piece', async (t) => {
  const blocks = chainOf(9, 6);
  const expected = await freshIndex(t, (await startNode(t, { chain: blocks })).url);
  const small = await startNode(t, { chain: blocks, maxResponseBytes: 25_000 });
  assert.deepEqual(await indexed(t, small.url, 6), expected);
});

test('a start block that the node has not reached is logged once, not for each of its blocks', async (t) => {
  const real = await startNode(t, { chain: chainOf(12, 40), head: 5 });
  const indexer = startIndexer(t, { http: real.url, dir: tempDir(t), index: { startBlock: 30 } });
  for (const count of [1, 2]) {
    const asked = () => real.stats().byMethod.eth_getBlockByNumber ?? 0;
    const before = asked();
    await waitFor(() => asked() > before, { what: `try ${count} to begin` });
    real.mine(1);
  }
  real.mine(40);
  await indexer.reaches(40);
  await indexer.client.stop();
  const reasons = indexer.logs.filter((line) => line.includes('gave no usable answer'));
  assert.equal(reasons.length, 1, indexer.logs.join('\n'));
  assert.equal(indexer.status().startBlock, 30);
});

test('on a node that has pruned its history the index begins at the oldest block and says so', async (t) => {
  const real = await startNode(t, { chain: chainOf(10, 40) });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  const isPruned = (block: unknown): boolean => Number(block) < 25;
  const ofReceipt = z.object({ blockNumber: z.string() });
  node.misbehave({
    replace(method, params, result) {
      if (method === 'eth_getBlockReceipts') return isPruned(params[0]) ? null : result;
      if (method !== 'eth_getTransactionReceipt') return result;
      return isPruned(ofReceipt.parse(result).blockNumber) ? null : result;
    },
  });
  const dir = tempDir(t);
  const writer = new IndexWriter(join(dir, 'index.db'), { cacheMb: 8 });
  writer.setChain(Number(await resultOf(real.url, 'eth_chainId')), 3); // stopped before its first block was stored
  writer.close();
  const index = { startBlock: 'earliest', confirmMs: 200 } as const;
  const indexer = startIndexer(t, { http: node.url, dir, index });
  await indexer.reaches(40);
  await indexer.client.stop();
  assert.equal(indexer.status().startBlock, 25);
  assert.ok(
    indexer.logs.some((line) =>
      /no longer has index.start_block; the index begins at the oldest block it has/.test(line),
    ),
    indexer.logs.join('\n'),
  );
});

test('a block that fails during the search for the first one is retried alone', async (t) => {
  const real = await startNode(t, { chain: chainOf(12, 40) });
  const node = await startMisbehavingNode({ upstream: real.url });
  t.after(() => node.close());
  node.misbehave({
    times: 2,
    when: ({ method, params }) => method === 'eth_getBlockReceipts' && params[0] === '0x4',
    errorFor: { eth_getBlockReceipts: { code: -32_603, message: 'overloaded' } },
  });
  const indexer = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await indexer.reaches(40);
  const asked = node.requests
    .flatMap(({ calls }) => calls)
    .filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === '0x20' && params[1]);
  assert.equal(asked.length, 2, 'once to see whether it is there, once to index it');
});
