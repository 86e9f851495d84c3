/** A node whose trace shows that an account destroyed itself, but neither its balance nor who got it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { JsonObject } from '../../src/decode/read-json.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { repairFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const CHAIN = [...generateChain({ seed: 61, blocks: 30, txPerBlock: 20 }).blocks];
const BLOCK = 17;
const HASH = CHAIN.find(({ number }) => number === BLOCK)?.hash;

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
  const indexer = startIndexer(t, { http: proxy.url, dir: tempDir(t), index: { startBlock: 1 } });
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
