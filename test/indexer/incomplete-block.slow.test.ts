/** A node whose trace shows that an account destroyed itself, but neither its balance nor who got it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { JsonObject } from '../../src/decode/read-json.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { repairFile, verifyFile } from '../support/index/verify.ts';
import { NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const CHAIN = [...generateChain({ seed: 61, blocks: 30, txPerBlock: 20 }).blocks];
const BLOCK = 17;
const BAD = CHAIN.find(({ number }) => number === BLOCK);
const HASH = BAD?.hash;

test('a block with a payment that the trace does not show is recorded, and stays so after a repair', async (t) => {
  const node = await startNode(t, { chain: CHAIN });
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  proxy.misbehave({
    replace: (method, params, result) =>
      method === 'debug_traceBlockByHash' && params[0] === HASH
        ? (result as { result: JsonObject & { calls?: object[] } }[]).map((item) => ({
            ...item,
            result: { ...item.result, calls: [...(item.result.calls ?? []), { type: 'SELFDESTRUCT' }] },
          }))
        : result,
  });
  const dir = tempDir(t);
  const indexer = startIndexer(t, { http: proxy.url, dir });
  await indexer.reaches(30);
  await indexer.client.stop();
  const status = indexer.status();
  const gap = {
    first: BLOCK,
    last: BLOCK,
    blocks: 1,
    reasons: [{ reason: 'a payment in the traces could not be read (selfdestruct_shape)', blocks: 1 }],
  };
  assert.deepEqual(status.untraced, gap);
  assert.ok((status.skippedLogs['selfdestruct_shape'] ?? 0) > 0);
  assert.match(status.skippedIn['selfdestruct_shape'] ?? '', /^0x[0-9a-f]{64}$/);
  assert.equal(describeStatus(status, 0, Date.now()).internalTransfers, false);
  const again = startIndexer(t, { http: proxy.url, dir });
  await again.reaches(30);
  await again.client.stop();
  assert.deepEqual(again.status().skippedLogs, status.skippedLogs, 'a restart forgets nothing');
  assert.deepEqual(again.status().skippedIn, status.skippedIn);

  const gaps = () => {
    const writer = new IndexWriter(indexer.path, { cacheMb: 8 });
    const found = writer.gaps('trace');
    writer.close();
    return found;
  };
  assert.equal((await repairFile(indexer.path, proxy.url, 10, 20)).replacedFrom, null);
  assert.deepEqual(gaps(), gap, 'this node shows no more than before');
  await repairFile(indexer.path, node.url, 10, 20);
  assert.equal(gaps(), null, 'another node shows that nothing is missing');
});

/** A node of the chain that refuses to trace block BLOCK, and each of its transactions. */
async function startRefusing(t: TestContext) {
  const node = await startNode(t, { chain: CHAIN });
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  const hashes = new Set(JSON.parse(BAD?.trace ?? '[]').map(({ txHash }: { txHash: string }) => txHash));
  const refusal = new NodeError(-32_000, 'tracing failed: nonce too high: tx: 1050 state: 1041');
  proxy.misbehave({
    replace(method, params, result) {
      const [id] = params;
      if (method.startsWith('debug_trace') && (id === HASH || hashes.has(id))) throw refusal;
      return result;
    },
  });
  return { node, proxy };
}

const REFUSED = {
  first: BLOCK,
  last: BLOCK,
  blocks: 1,
  reasons: [{ reason: 'tracing failed: nonce too high: tx: … state: …', blocks: 1 }],
};

test('a block that the node refuses to trace becomes a gap, which verify accepts and a repair fills', async (t) => {
  const { node, proxy } = await startRefusing(t);
  const index = { confirmMs: 300 };
  const indexer = startIndexer(t, { http: proxy.url, dir: tempDir(t), index });
  await indexer.reaches(30);
  await indexer.client.stop();
  assert.deepEqual(indexer.status().untraced, REFUSED);
  assert.match(indexer.logs.join('\n'), /"block":17,"reason":"[^"]*nonce too high/);

  for (const http of [proxy.url, node.url]) {
    const { checks } = await verifyFile({ path: indexer.path, http, sample: 1 });
    const [transfers] = checks.filter(({ name }) => name === 'transfers');
    assert.deepEqual(transfers?.differences, [], http);
    assert.match(transfers?.notes.join('\n') ?? '', /block 17 lacks internal transfers: tracing failed/);
  }
  await repairFile(indexer.path, node.url, 10, 20);
  const writer = new IndexWriter(indexer.path, { cacheMb: 8 });
  assert.equal(writer.gaps('trace'), null);
  writer.close();
  assert.deepEqual(
    dumpIndex(indexer.path),
    dumpIndex(await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 })),
  );
});

test('another configured node that traces the block is asked before it becomes a gap', async (t) => {
  const { node, proxy } = await startRefusing(t);
  const indexer = startIndexer(t, {
    http: proxy.url,
    others: [node.url],
    dir: tempDir(t),
    index: { confirmMs: 300 },
  });
  await indexer.reaches(30);
  assert.equal(indexer.status().untraced, null);
});

test('indexing waits and says so while the node traces nothing', async (t) => {
  const node = await startNode(t, { chain: CHAIN });
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  proxy.misbehave({
    nullFor: ['debug_traceBlockByHash', 'debug_traceBlockByNumber', 'debug_traceTransaction'],
  });
  const index = { confirmMs: 100, gapAfterMs: 300 };
  const indexer = startIndexer(t, { http: proxy.url, dir: tempDir(t), index });
  await waitFor(() => /block \d+ has no traces yet/.test(indexer.status().reason ?? ''), {
    what: 'the reason',
  });
  proxy.misbehave({});
  await indexer.reaches(30);
  assert.deepEqual([indexer.status().startBlock, indexer.status().untraced], [1, null]);
});
