/**
 * Nodes at different heights behind one address: everything served as final is true, and filters neither lose nor
 * repeat anything.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Prng } from '../../src/lib/random.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { type BalancedNodes, startBalancedNodes } from '../support/nodes/balanced-nodes.ts';
import { resultOf } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';

const quantity = (number: number) => `0x${number.toString(16)}`;
const CHAIN = { blocks: 120, txPerBlock: 4, wallets: 20, tokens: 6, traces: false };
const LAG = 2;

interface Log {
  blockHash: string;
  blockNumber: string;
  logIndex: string;
  removed?: boolean;
}

const FINALITY = { rule: 'depth', maxReorg: LAG } as const;

interface Setting extends BalancedNodes {
  gateway: TestGateway;
}

async function setUp(
  t: TestContext,
  heads: readonly number[],
  options: Partial<TestGatewayOptions> = {},
): Promise<Setting> {
  const cleanup: Cleanup = nestedCleanup(t);
  const balanced = await startBalancedNodes(cleanup, CHAIN, heads, { finalizedLag: LAG });
  return {
    ...balanced,
    gateway: startGateway(cleanup, { url: balanced.url, local: false, finality: FINALITY, ...options }),
  };
}

/** Lets the gateway learn that blocks up to this one are final. */
async function learnFinality({ gateway, pin }: Setting, node: number, block: number): Promise<void> {
  pin(node);
  const ask = () => gateway.result('eth_getBlockByNumber', quantity(block), false);
  const hits = () => gateway.metric('atlas_rpc_cache_hits_total{method="eth_getBlockByNumber"}');
  const before = await hits();
  await waitFor(async () => (await ask()) !== null && (await hits()) > before, {
    what: `block ${block} to be answered from the cache`,
  });
}

/** Requests logs until the answer comes from the cache, or this many times. */
async function logsOf({ gateway }: Setting, from: number, to: number): Promise<Log[]> {
  return (await gateway.result('eth_getLogs', {
    fromBlock: quantity(from),
    toBlock: quantity(to),
  })) as Log[];
}

test('logs truncated by a lagging node are not cached', async (t) => {
  const setting = await setUp(t, [20, 14]);
  const { nodes, pin, gateway } = setting;
  await learnFinality(setting, 0, 18);
  const truth = await resultOf<Log[]>(nodes[0]!.url, 'eth_getLogs', { fromBlock: '0xa', toBlock: '0x12' });
  pin(1);
  for (let i = 0; i < 4; i++) {
    const cut = await logsOf(setting, 10, 18);
    assert.ok(cut.length < truth.length, 'the node is behind');
  }
  nodes[1]!.setHead(20);
  for (let i = 0; i < 4; i++) assert.deepEqual(await logsOf(setting, 10, 18), truth);
  assert.ok(
    (await gateway.metric('atlas_rpc_cache_hits_total{method="eth_getLogs"}')) > 0,
    'a whole one is kept',
  );
});

test('an answer from an abandoned branch is not cached', async (t) => {
  const setting = await setUp(t, [20, 15]);
  const { nodes, pin, gateway } = setting;
  nodes[1]!.fork(15);
  await learnFinality(setting, 0, 18);
  const { hash, transactions } = await resultOf<{ hash: string; transactions: string[] }>(
    nodes[1]!.url,
    'eth_getBlockByNumber',
    '0xf',
    false,
  );
  const orphaned: [string, ...unknown[]][] = [
    ['eth_getBlockByNumber', '0xf', false],
    ['eth_getBlockByNumber', '0xf', true],
    ['eth_getBlockByHash', hash, false],
    ['eth_getBlockReceipts', '0xf'],
    ['eth_getTransactionReceipt', transactions[0]],
    ['eth_getTransactionByHash', transactions[0]],
    ['eth_getBlockTransactionCountByNumber', '0xf'],
    ['eth_getLogs', { fromBlock: '0xf', toBlock: '0xf' }],
  ];
  pin(1);
  for (const call of orphaned) for (let i = 0; i < 3; i++) await gateway.call(call[0], call.slice(1));
  pin(0);
  for (const [method, ...params] of orphaned) {
    const { result } = await gateway.call(method, params);
    const asked = { jsonrpc: '2.0', id: 1, method, params };
    const direct = await fetch(nodes[0]!.url, { method: 'POST', body: JSON.stringify(asked) });
    assert.deepEqual(result, ((await direct.json()) as { result?: unknown }).result, method);
  }
});

for (const by of ['request', 'connection'] as const) {
  test(`answers from the cache are right behind nodes that alternate by ${by}`, async (t) => {
    const setting = await setUp(t, [30, 22], { logs_node_range: 10 });
    const { nodes, gateway, balanceBy, pin } = setting;
    const prng = new Prng(7);
    const below = (count: number) => prng.below(count);
    await learnFinality(setting, 0, 28);
    pin(null);
    balanceBy(by);
    const asked = new Map<string, [string, ...unknown[]]>();
    for (let round = 0; round < 25; round++) {
      const top = Math.max(...nodes.map((_, i) => heads(setting)[i]!));
      const calls = Array.from({ length: 24 }, (): [string, ...unknown[]] => {
        const to = Math.max(1, top - below(12));
        const from = Math.max(1, to - below(30));
        const kinds: [string, ...unknown[]][] = [
          ['eth_getLogs', { fromBlock: quantity(from), toBlock: quantity(to) }],
          ['eth_getBlockByNumber', quantity(to), true],
          ['eth_getBlockReceipts', quantity(to)],
        ];
        return kinds[below(kinds.length)]!;
      });
      for (const call of calls) asked.set(JSON.stringify(call), call);
      for (let i = 0; i < 3; i++)
        await Promise.all(calls.map(([method, ...params]) => gateway.call(method, params)));
      // Either node may be ahead.
      const moved = below(2);
      nodes[moved]!.setHead(Math.min(CHAIN.blocks, heads(setting)[moved]! + below(8)));
    }
    for (const node of nodes) node.setHead(CHAIN.blocks);
    const direct = nodes[0]!.url;
    for (const [method, ...params] of asked.values()) {
      const told = await gateway.result(method, ...params);
      assert.deepEqual(
        told,
        await resultOf(direct, method, ...params),
        `${method} ${JSON.stringify(params)}`,
      );
    }
    const hits = await gateway.metric('atlas_rpc_cache_hits_total{method="eth_getLogs"}');
    assert.ok(hits > 10, `${hits} answers from the cache`);
  });

  test(`filters neither lose nor repeat anything with nodes that alternate by ${by}`, async (t) => {
    const setting = await setUp(t, [40, 38]);
    const { nodes, gateway, balanceBy } = setting;
    balanceBy(by);
    const prng = new Prng(11);
    const url = nodes[0]!.url;
    const logs = await gateway.result('eth_newFilter', {});
    const blocks = await gateway.result('eth_newBlockFilter');
    const seen: Log[] = [];
    const hashes: string[] = [];
    const poll = async () => {
      const answers = await Promise.all([
        gateway.result('eth_getFilterChanges', logs),
        gateway.result('eth_getFilterChanges', blocks),
      ]);
      seen.push(...(answers[0] as Log[]));
      hashes.push(...(answers[1] as string[]));
    };
    await poll();
    const started = hashes.length === 0 ? null : hashes[0];
    for (let round = 0; round < 120; round++) {
      const moved = prng.below(2);
      const next = Math.min(CHAIN.blocks, heads(setting)[moved]! + prng.below(3));
      nodes[moved]!.setHead(next);
      await poll();
    }
    for (const node of nodes) node.setHead(CHAIN.blocks);
    await waitFor(
      async () => {
        await poll();
        return hashes.at(-1) === setting.blocks.at(-1)?.hash;
      },
      { what: 'the last block to be told' },
    );
    await poll();
    assert.equal(started, null);
    const first = (await resultOf<{ number: string }>(url, 'eth_getBlockByHash', hashes[0], false)).number;
    const truth = await resultOf<Log[]>(url, 'eth_getLogs', {
      fromBlock: first,
      toBlock: quantity(CHAIN.blocks),
    });
    const name = ({ blockHash, logIndex }: Log) => `${blockHash} ${logIndex}`;
    assert.equal(new Set(hashes).size, hashes.length, 'each block once');
    assert.equal(hashes.length, CHAIN.blocks - Number(first) + 1, 'every block');
    assert.deepEqual(seen.map(name), truth.map(name));
  });
}

test('a range fetched in parts arrives completely or not at all', async (t) => {
  const { nodes, url, balanceBy } = await setUp(t, [30, 22]);
  for (const by of ['request', 'connection'] as const) {
    balanceBy(by);
    for (const to of [20, 23, 26, 28, 30]) {
      const range = { fromBlock: '0x1', toBlock: quantity(to) };
      const truth = await resultOf<Log[]>(nodes[0]!.url, 'eth_getLogs', range);
      const wholes = [30, 22].map((head) => truth.filter(({ blockNumber }) => Number(blockNumber) <= head));
      for (let i = 0; i < 3; i++) {
        // A new gateway each time, because it soon learns that the nodes accept the whole range.
        const gateway = startGateway(t, { url, logs_node_range: 5, cache: false });
        const { result, error } = await gateway.call('eth_getLogs', [range]);
        // The range ends at the head of the answering node.
        if (error === undefined) assert.ok(wholes.some((whole) => isDeepStrictEqual(result, whole)));
        else assert.ok([-32602, -32603].includes(error.code), error.message);
        if (to <= 22) assert.equal(error, undefined);
      }
    }
  }
});

test('a node without batches gets single calls, serves filters, and its answers are not cached', async (t) => {
  const setting = await setUp(t, [20]);
  const { nodes, gateway, received, refuseBatches } = setting;
  refuseBatches();
  const id = await gateway.result('eth_newFilter', {});
  const ask = () => logsOf(setting, 5, 10);
  const truth = await resultOf<Log[]>(nodes[0]!.url, 'eth_getLogs', { fromBlock: '0x5', toBlock: '0xa' });
  for (let i = 0; i < 6; i++) assert.deepEqual(await ask(), truth);
  nodes[0]!.setHead(25);
  const fresh = await resultOf<Log[]>(nodes[0]!.url, 'eth_getLogs', { fromBlock: '0x15', toBlock: '0x19' });
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), fresh);
  assert.equal(await gateway.metric('atlas_rpc_cache_hits_total{method="eth_getLogs"}'), 0);
  const batches = received.filter(({ body }) => body.startsWith('[') && body.includes('eth_getLogs'));
  assert.equal(batches.length, 1, 'it is not tried again and again');
});

function heads({ nodes }: Setting): number[] {
  return nodes.map((node) => node.mine(0));
}
