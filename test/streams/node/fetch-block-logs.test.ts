/** Fetches the logs of a block from a scripted node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFetchedBlock } from '../../../src/chain/block.ts';
import { UpstreamError, type UpstreamFailure } from '../../../src/lib/errors.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { httpError, type RpcCall, type RpcReply } from '../../../src/node/reply.ts';
import { fetchBlockLogs } from '../../../src/streams/node/fetch-block-logs.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { startBalancedNodes } from '../../support/nodes/balanced-nodes.ts';
import { resultOf } from '../../support/nodes/replay.ts';

const CHAIN = { blocks: 20, txPerBlock: 4, wallets: 20, tokens: 6, traces: false };

const HEADER = {
  number: '0x65',
  hash: `0x${'b0'.repeat(32)}`,
  parentHash: `0x${'a0'.repeat(32)}`,
  timestamp: '0x1',
  logsBloom: `0x${'ff'.repeat(256)}`,
};
const LOG = {
  address: `0x${'ab'.repeat(20)}`,
  topics: [],
  data: '0x',
  blockNumber: HEADER.number,
  blockHash: HEADER.hash,
  logIndex: '0x0',
};

/** Fetches from a node that answers by method and number of earlier calls; retries do not wait. */
function ask(answer: (method: string, before: number) => unknown, header: Record<string, unknown> = HEADER) {
  const calls: string[] = [];
  const count = (name: string) => calls.filter((method) => method === name).length;
  const call = async (method: string) => {
    calls.push(method);
    return answer(method, count(method) - 1);
  };
  const batch = async (requested: readonly RpcCall[]) => {
    const results: RpcReply[] = [];
    for (const { method } of requested) results.push({ result: await call(method) });
    return results;
  };
  const client = { call, batch };
  const { signal } = new AbortController();
  const logs = fetchBlockLogs(client, readFetchedBlock(header, 'newHeads', null), signal, {
    first: 0,
    longest: 0,
  });
  return { logs, calls, asked: () => [count('eth_getLogs'), count('eth_getBlockByHash')] };
}

test('an empty answer counts for a block that the node has, whatever its bloom says', async () => {
  const { logs, calls } = ask((method) => (method === 'eth_getLogs' ? [] : HEADER));
  assert.deepEqual(await logs, []);
  assert.deepEqual(
    calls.slice(-2),
    ['eth_getBlockByHash', 'eth_getLogs'],
    'the logs are fetched again with the header',
  );
  assert.ok(calls.length < 10, calls.join());
});

test('an empty answer does not count while the node lacks the block', async () => {
  const other = { ...HEADER, hash: `0x${'c0'.repeat(32)}` };
  const blocks = [null, other, HEADER];
  const { logs } = ask((method, before) => {
    if (method === 'eth_getBlockByHash') return blocks[before];
    return before < 7 ? [] : [LOG];
  });
  assert.equal((await logs)?.length, 1);
});

test('a bloom without bits proves nothing: it may be announced before it is computed', async () => {
  const header = { ...HEADER, logsBloom: `0x${'00'.repeat(256)}`, gasUsed: '0x5208' };
  const { logs, calls } = ask((method, before) => {
    if (method === 'eth_getBlockByHash') return before === 0 ? null : HEADER;
    return before < 2 ? [] : [LOG];
  }, header);
  assert.equal((await logs)?.length, 1);
  assert.deepEqual(calls.slice(0, 2), ['eth_getLogs', 'eth_getBlockByHash']);
});

test('a block that used no gas has no logs and needs no second call', async () => {
  const { logs, asked } = ask(() => [], { ...HEADER, gasUsed: '0x0' });
  assert.deepEqual(await logs, []);
  assert.deepEqual(asked(), [1, 0]);
});

test('the logs of a block that the node never has are unavailable', async () => {
  const { logs, asked } = ask((method) => (method === 'eth_getLogs' ? [] : null));
  await assert.rejects(logs, { name: 'UpstreamError', reason: 'inconsistent' });
  assert.deepEqual(asked(), [20, 8]);
});

/** A node that fails this often before it returns the log. */
const failing = (reason: UpstreamFailure, times: number) => (_method: string, before: number) => {
  if (before < times) throw new UpstreamError(reason, 'eth_getLogs');
  return [LOG];
};

for (const reason of ['connection', 'timeout'] as const) {
  test(`an unreachable node (${reason}) is retried without limit`, async () => {
    const { logs } = ask(failing(reason, 200));
    assert.equal((await logs)?.length, 1);
  });
}

test('an unreachable node behind a proxy is retried without limit', async () => {
  const badGateway = { status: 502, retryAfterMs: 0, location: null, body: Buffer.from('<html>') };
  const { logs } = ask((_method, before) => {
    if (before < 200) throw httpError(badGateway, 'eth_getLogs');
    return [LOG];
  });
  assert.equal((await logs)?.length, 1);
});

test('a reachable node that does not return the logs is not retried for ever', async () => {
  const { logs, asked } = ask(failing('rpc', 200));
  await assert.rejects(logs, { reason: 'rpc' });
  assert.deepEqual(asked(), [12, 0]);
});

test('attempts before an outage count, those during it do not', async () => {
  const reasons = Array.from(
    { length: 100 },
    (_, i) => (i >= 5 && i < 80 ? 'connection' : 'rpc') as UpstreamFailure,
  );
  const { logs, asked } = ask((_method, before) => {
    throw new UpstreamError(reasons[before] ?? 'rpc', 'eth_getLogs');
  });
  await assert.rejects(logs, { reason: 'rpc' });
  assert.deepEqual(asked(), [75 + 12, 0]);
});

for (const hasBits of [true, false]) {
  test(`balanced nodes lose no logs of a block that one lacks, bloom ${hasBits ? 'known' : 'unknown'}`, async (t) => {
    const { nodes, url, blocks } = await startBalancedNodes(nestedCleanup(t), CHAIN, [20, 20]);
    const { hash } = blocks[19]!;
    const found = await resultOf<Record<string, unknown>>(url, 'eth_getBlockByHash', hash, false);
    const logsBloom = `0x${(hasBits ? 'ff' : '00').repeat(256)}`;
    const truth = await resultOf<unknown[]>(url, 'eth_getLogs', { blockHash: hash });
    assert.ok(truth.length > 0);
    for (const behind of nodes) {
      behind.setHead(19);
      const client = new RpcClient({ url, timeoutMs: 5_000, maxSockets: 4, maxBatch: 10 });
      t.after(() => client.close());
      // Each time the other node is first.
      for (let turn = 0; turn < 2; turn++) {
        const block = readFetchedBlock({ ...found, logsBloom }, 'newHeads', null);
        const { signal } = new AbortController();
        const logs = await fetchBlockLogs(client, block, signal, { first: 0, longest: 0 });
        assert.equal(logs?.length, truth.length);
        if (turn === 0) await client.call('eth_blockNumber', []);
      }
      behind.setHead(20);
    }
  });
}
