import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { createPublicClient, http } from 'viem';
import type { GeneratedBlock } from '../../scripts/simulator/chain/block.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import {
  ask,
  post,
  type Reply,
  resultOf,
  startGeneratedNode,
  suiteCleanup,
} from '../support/nodes/replay.ts';

const CHAIN = { blocks: 12, txPerBlock: 8, startBlock: 100 };
const CALL_TRACER = { tracer: 'callTracer' };
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Log {
  address: string;
  topics: string[];
}

suite('a replay node', () => {
  const owner = suiteCleanup();
  let node: ReplayNode;
  let blocks: GeneratedBlock[];

  before(async () => {
    ({ node, blocks } = await startGeneratedNode(owner, CHAIN, { maxBatch: 5, maxLogRange: 3 }));
  });

  test('gives the blocks, receipts and traces of its chain byte for byte', async () => {
    for (const { number, hash, block, receipts, trace } of blocks) {
      const height = `0x${number.toString(16)}`;
      assert.equal(await rawResult('eth_getBlockByNumber', [height, true]), block);
      assert.equal(await rawResult('eth_getBlockByHash', [hash, true]), block);
      assert.equal(await rawResult('eth_getBlockReceipts', [height]), receipts);
      assert.equal(await rawResult('debug_traceBlockByNumber', [height, CALL_TRACER]), trace);
    }
  });

  test('is a node to a client of the field', async () => {
    const client = createPublicClient({ transport: http(node.url) });
    assert.equal(await client.getChainId(), 20143);
    assert.equal(await client.getBlockNumber(), 111n);
    const block = await client.getBlock({ blockTag: 'finalized', includeTransactions: true });
    assert.equal(block.number, 109n);
    const receipt = await client.getTransactionReceipt({ hash: block.transactions[0]!.hash });
    assert.equal(receipt.blockHash, block.hash);
  });

  test('knows no block above its head', async () => {
    assert.equal(await resultOf(node.url, 'eth_getBlockByNumber', '0x70', true), null);
    assert.equal(await resultOf(node.url, 'eth_getBlockReceipts', '0x70'), null);
    const { error } = await ask(node.url, 'debug_traceBlockByNumber', '0x70', CALL_TRACER);
    assert.equal(error?.code, -32602);
    assert.match(error.message, /^Block requested not found/);
  });

  test('gives a light block when transactions are not requested', async () => {
    const whole = await resultOf<{ transactions: { hash: string }[] }>(
      node.url,
      'eth_getBlockByNumber',
      'latest',
      true,
    );
    const light = await resultOf<{ transactions: string[] }>(
      node.url,
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    assert.deepEqual(light, { ...whole, transactions: whole.transactions.map(({ hash }) => hash) });
  });

  test('computes eth_getLogs from the receipts', async () => {
    const receipts = blocks.slice(2, 5).map((block): { logs: Log[] }[] => JSON.parse(block.receipts));
    const logs = receipts.flat().flatMap((receipt) => receipt.logs);
    const range = { fromBlock: '0x66', toBlock: '0x68' };
    assert.deepEqual(await resultOf(node.url, 'eth_getLogs', range), logs);
    const erc20 = { ...range, topics: [TRANSFER.toUpperCase().replace('0X', '0x'), null, null] };
    assert.deepEqual(
      await resultOf(node.url, 'eth_getLogs', erc20),
      logs.filter(({ topics }) => topics[0] === TRANSFER && topics.length >= 3),
    );
    const address = logs[0]?.address;
    assert.deepEqual(
      await resultOf(node.url, 'eth_getLogs', { ...range, address: [address] }),
      logs.filter((log) => log.address === address),
    );
  });

  test('refuses log ranges as Monad does', async () => {
    const refusal = async (fromBlock: string, toBlock: string) =>
      (await ask(node.url, 'eth_getLogs', { fromBlock, toBlock })).error;
    assert.deepEqual(await refusal('0x64', '0x68'), { code: -32602, message: 'block range too large' });
    assert.deepEqual(await refusal('0x66', '0x65'), { code: -32602, message: 'invalid block range' });
    assert.match((await refusal('0x70', '0x71'))?.message ?? '', /^Block requested not found/);
    assert.equal(await refusal('0x6c', '0xffff'), undefined);
  });

  test('answers a batch in the order of its calls, errors among them', async () => {
    const calls = [
      { jsonrpc: '2.0', id: 'a', method: 'eth_blockNumber' },
      { jsonrpc: '2.0', id: 7, method: 'eth_nothing', params: [] },
      { jsonrpc: '2.0', id: null, method: 'eth_chainId', params: [] },
      { id: 9 },
    ];
    assert.deepEqual(await post(node.url, calls), [
      { jsonrpc: '2.0', id: 'a', result: '0x6f' },
      { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: null, result: '0x4eaf' },
      { jsonrpc: '2.0', id: 9, error: { code: -32601, message: 'Invalid request' } },
    ]);
  });

  test('refuses empty or oversized batches and text that is not JSON', async () => {
    const refusal = async (body: unknown) => (await post<Reply>(node.url, body)).error?.message;
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' };
    assert.equal(await refusal([]), 'empty batch request');
    assert.equal(
      await refusal(Array(6).fill(call)),
      'number of requests in batch request exceeds limit of 5',
    );
    assert.equal(await refusal('{"jsonrpc":'), 'Parse error');
  });

  test('finds transactions by hash, with their receipts and call trees', async () => {
    const block: { transactions: { hash: string }[] } = JSON.parse(blocks[3]!.block);
    const receipts: object[] = JSON.parse(blocks[3]!.receipts);
    const traces: { result: object }[] = JSON.parse(blocks[3]!.trace ?? '');
    const last = block.transactions.length - 1;
    const hash = block.transactions[last]?.hash;
    assert.deepEqual(await resultOf(node.url, 'eth_getTransactionByHash', hash), block.transactions[last]);
    assert.deepEqual(await resultOf(node.url, 'eth_getTransactionReceipt', hash), receipts[last]);
    assert.deepEqual(await resultOf(node.url, 'debug_traceTransaction', hash), traces[last]?.result);
  });

  test('derives flat traces from the call trees', async () => {
    const count = (frame: { calls?: object[] }): number =>
      1 + (frame.calls ?? []).reduce((sum: number, child) => sum + count(child), 0);
    const traces: { result: { calls?: object[] } }[] = JSON.parse(blocks[5]!.trace ?? '');
    const flat = await resultOf<{ traceAddress: number[]; transactionPosition: number }[]>(
      node.url,
      'trace_block',
      '0x69',
    );
    assert.equal(
      flat.length,
      traces.reduce((sum, { result }) => sum + count(result), 0),
    );
    assert.deepEqual(
      flat.filter(({ traceAddress }) => traceAddress.length === 0).map((trace) => trace.transactionPosition),
      traces.map((_, i) => i),
    );
  });

  test('counts its requests', async () => {
    const before = node.stats();
    await post(node.url, [
      { id: 1, method: 'eth_syncing' },
      { id: 2, method: 'eth_nothing' },
    ]);
    const stats = node.stats();
    assert.equal(stats.calls - before.calls, 2);
    assert.equal(stats.batches - before.batches, 1);
    assert.equal(stats.errors - before.errors, 1);
    assert.equal(stats.byMethod.eth_syncing, (before.byMethod.eth_syncing ?? 0) + 1);
  });

  async function rawResult(method: string, params: unknown[]): Promise<string> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const text = await (await fetch(node.url, { method: 'POST', body })).text();
    return text.slice('{"jsonrpc":"2.0","id":1,"result":'.length, -1);
  }
});

test('a node without traces or block receipts says so', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { traces: false, blockReceipts: false });
  const { error: noTraces } = await ask(node.url, 'debug_traceBlockByNumber', 'latest', CALL_TRACER);
  const { error: noReceipts } = await ask(node.url, 'eth_getBlockReceipts', 'latest');
  assert.deepEqual(noTraces, { code: -32601, message: 'Method not supported' });
  assert.deepEqual(noReceipts, { code: -32601, message: 'Method not found' });
});

test('an answer above the size limit is refused, alone and as part of a batch', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { maxResponseBytes: 4000 });
  const tooLarge = { code: -32603, message: 'response size limit exceeded' };
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', true] };
  const light = { ...call, params: ['latest', false] };
  assert.deepEqual((await post<Reply>(node.url, call)).error, tooLarge);
  assert.deepEqual((await post<Reply>(node.url, Array(4).fill(light))).error, tooLarge);
  assert.equal((await post<Reply[]>(node.url, [light])).length, 1);
});

test('an overloaded node refuses the configured fraction of calls', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN, { errorRate: 0.5 });
  const calls = Array.from({ length: 400 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }));
  const refused = (await post<Reply[]>(node.url, calls)).filter(({ error }) => error);
  assert.ok(refused.length > 140 && refused.length < 260, `${refused.length} of 400 refused`);
  assert.deepEqual(refused[0]?.error, { code: -32603, message: 'overloaded, try again later' });
});

test('a slow node answers late, a batch only once', async (t) => {
  const { node } = await startGeneratedNode(t, CHAIN);
  node.setLatency(60);
  const startedAt = performance.now();
  await post(node.url, Array(200).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' }));
  const took = performance.now() - startedAt;
  assert.ok(took >= 59 && took < 200 * 60, `took ${took} ms`);
});
