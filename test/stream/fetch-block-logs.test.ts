/** The logs of a block of a node that is scripted answer by answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError, type UpstreamFailure } from '../../src/errors.ts';
import { readAnnouncedBlock } from '../../src/stream/chain-block.ts';
import { fetchBlockLogs } from '../../src/stream/fetch-block-logs.ts';
import { httpError } from '../../src/upstream/reply.ts';

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

/** Asks a node that answers each call from its method and how often that was called before, again without much waiting. */
function ask(answer: (method: string, before: number) => unknown, header: Record<string, unknown> = HEADER) {
  const calls: string[] = [];
  const count = (name: string) => calls.filter((method) => method === name).length;
  const client = {
    call: async (method: string) => {
      calls.push(method);
      return answer(method, count(method) - 1);
    },
  };
  const { signal } = new AbortController();
  const logs = fetchBlockLogs(client, readAnnouncedBlock(header), signal, { first: 0, longest: 0 });
  return { logs, calls, asked: () => [count('eth_getLogs'), count('eth_getBlockByHash')] };
}

test('that there are no logs is believed of a block that the node has, whatever its bloom says', async () => {
  const { logs, calls } = ask((method) => (method === 'eth_getLogs' ? [] : HEADER));
  assert.deepEqual(await logs, []);
  assert.deepEqual(
    calls.slice(-2),
    ['eth_getBlockByHash', 'eth_getLogs'],
    'asked again once the block is there',
  );
  assert.ok(calls.length < 10, calls.join());
});

test('that there are no logs is not believed as long as the node does not have the block', async () => {
  const other = { ...HEADER, hash: `0x${'c0'.repeat(32)}` };
  const blocks = [null, other, HEADER];
  const { logs } = ask((method, before) => {
    if (method === 'eth_getBlockByHash') return blocks[before];
    return before < 7 ? [] : [LOG];
  });
  assert.equal((await logs)?.length, 1);
});

test('a bloom without bits is no proof: a block may be announced before it is made', async () => {
  const header = { ...HEADER, logsBloom: `0x${'00'.repeat(256)}`, gasUsed: '0x5208' };
  const { logs, calls } = ask((method, before) => {
    if (method === 'eth_getBlockByHash') return before === 0 ? null : HEADER;
    return before < 2 ? [] : [LOG];
  }, header);
  assert.equal((await logs)?.length, 1);
  assert.deepEqual(calls.slice(0, 2), ['eth_getLogs', 'eth_getBlockByHash']);
});

test('a block that used no gas has no logs: nothing is asked again', async () => {
  const { logs, asked } = ask(() => [], { ...HEADER, gasUsed: '0x0' });
  assert.deepEqual(await logs, []);
  assert.deepEqual(asked(), [1, 0]);
});

test('a block that the node never has counts as not to be had', async () => {
  const { logs, asked } = ask((method) => (method === 'eth_getLogs' ? [] : null));
  await assert.rejects(logs, { name: 'UpstreamError', reason: 'inconsistent' });
  assert.deepEqual(asked(), [12, 8]);
});

/** A node that fails so often before it gives the log. */
const failing = (reason: UpstreamFailure, times: number) => (_method: string, before: number) => {
  if (before < times) throw new UpstreamError(reason, 'eth_getLogs');
  return [LOG];
};

for (const reason of ['connection', 'timeout'] as const) {
  test(`a node that is away (${reason}) is waited for`, async () => {
    const { logs } = ask(failing(reason, 200));
    assert.equal((await logs)?.length, 1);
  });
}

test('a node that is away behind a proxy is waited for', async () => {
  const badGateway = { status: 502, retryAfterMs: 0, body: Buffer.from('<html>') };
  const { logs } = ask((_method, before) => {
    if (before < 200) throw httpError(badGateway, 'eth_getLogs');
    return [LOG];
  });
  assert.equal((await logs)?.length, 1);
});

test('a node that is there and does not give the logs is not asked for ever', async () => {
  const { logs, asked } = ask(failing('rpc', 200));
  await assert.rejects(logs, { reason: 'rpc' });
  assert.deepEqual(asked(), [12, 0]);
});

test('tries from before the node was away count, those while it was do not', async () => {
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
