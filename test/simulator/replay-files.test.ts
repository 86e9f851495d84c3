import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { writeChain } from '../support/chain/chain-file.ts';
import { readExpected, readSummary, recordedDataOrSkip } from '../support/nodes/recorded.ts';
import { ask, resultOf, startNode, startRecordedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const CHAIN = { blocks: 8, txPerBlock: 8 };
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Head {
  number: string;
  hash: string;
  parentHash: string;
}

test('a chain read from a file is the chain served from memory, compressed, plain or spilled', async (t) => {
  const dir = tempDir(t);
  const zipped = writeChain(join(dir, 'chain.jsonl.gz'), CHAIN);
  const plain = writeChain(join(dir, 'chain.jsonl'), CHAIN);
  const generated = generateChain(CHAIN);
  const inMemory = await startNode(t, { chain: generated.blocks, chainId: generated.options.chainId });
  const wanted = await everything(inMemory);
  assert.deepEqual(await everything(await startNode(t, { files: [zipped] })), wanted);
  const spilling = await startNode(t, { files: [plain], memoryBytes: 50_000 });
  assert.deepEqual(await everything(spilling), wanted);
  assert.ok(spilling.stats().spilledBytes > 0);
});

test('sparse recordings can be served as one linked chain', async (t) => {
  const dir = tempDir(t);
  const first = writeChain(join(dir, 'a.jsonl'), { ...CHAIN, blocks: 2 });
  const second = writeChain(join(dir, 'b.jsonl'), { ...CHAIN, blocks: 2, startBlock: 900, seed: 2 });
  const node = await startNode(t, { files: [second, first], rechain: 10, chainId: 5 });
  assert.equal(await resultOf(node.url, 'eth_chainId'), '0x5');
  let parent: string | null = null;
  for (let number = 10; number < 14; number++) {
    const height = `0x${number.toString(16)}`;
    const block = await resultOf<Head>(node.url, 'eth_getBlockByNumber', height, true);
    const receipts = await resultOf<{ blockNumber: string }[]>(node.url, 'eth_getBlockReceipts', height);
    assert.equal(block.number, height);
    assert.ok(receipts.every(({ blockNumber }) => blockNumber === height));
    if (parent !== null) assert.equal(block.parentHash, parent);
    parent = block.hash;
  }
});

test('a file that is not there or no recording stops the start', async (t) => {
  const dir = tempDir(t);
  await assert.rejects(startNode(t, { files: [join(dir, 'none.jsonl')] }), /ENOENT/);
  await assert.rejects(startNode(t, { files: [join(dir, 'none.jsonl.gz')] }), /ENOENT/);
  await assert.rejects(
    startNode(t, { files: [import.meta.filename] }),
    /replay-files\.test\.ts, line 1: not a recorded/,
  );
});

test('a port that is taken stops the start', async (t) => {
  const node = await startNode(t, { chain: [] });
  const port = Number(new URL(node.url).port);
  await assert.rejects(startNode(t, { chain: [], port }), /EADDRINUSE/);
});

test('recorded mainnet blocks are served with their logs and traces', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const dataset = 'eth-17686164';
  const summary = readSummary(folder, dataset);
  const transfers = readExpected(folder, dataset, 'transfers');
  const node = await startRecordedNode(t, folder, dataset);
  const range = { fromBlock: `0x${summary.firstBlock.toString(16)}`, toBlock: 'latest' };
  const logs = await resultOf<{ topics: string[] }[]>(node.url, 'eth_getLogs', range);
  const erc20 = await resultOf<{ data: string }[]>(node.url, 'eth_getLogs', {
    ...range,
    topics: [TRANSFER, null, null],
  });
  const traces = await resultOf<object[]>(node.url, 'debug_traceBlockByNumber', 'latest', {
    tracer: 'callTracer',
  });
  assert.equal(logs.length, summary.logs);
  assert.equal(traces.length, summary.transactions);
  assert.equal(erc20.length, transfers.filter(({ kind }) => kind === 'erc20' || kind === 'erc721').length);
});

test('recorded blocks without traces answer that the method is not supported', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const node = await startRecordedNode(t, folder, 'holesky-70951-notrace');
  const { error } = await ask(node.url, 'debug_traceBlockByNumber', 'latest', { tracer: 'callTracer' });
  assert.deepEqual(error, { code: -32601, message: 'Method not supported' });
});

/** The answers about every block of the small chain. */
async function everything(node: ReplayNode): Promise<unknown[]> {
  const answers: unknown[] = [
    await resultOf(node.url, 'eth_chainId'),
    await resultOf(node.url, 'net_version'),
  ];
  for (let number = 1; number <= CHAIN.blocks; number++) {
    const height = `0x${number.toString(16)}`;
    answers.push(
      await resultOf(node.url, 'eth_getBlockByNumber', height, true),
      await resultOf(node.url, 'eth_getBlockReceipts', height),
      await resultOf(node.url, 'debug_traceBlockByNumber', height, { tracer: 'callTracer' }),
    );
  }
  return answers;
}
