import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { IndexerThreadOptions } from '../../src/indexer/protocol.ts';
import { NOT_TRACED } from '../../src/model/block-gap.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer, type TestIndexer } from '../support/index/indexer.ts';
import { repairFile, verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const CHAIN = [...generateChain({ seed: 61, blocks: 60, txPerBlock: 20 }).blocks];
/** Some of its blocks have internal transfers, others have none. */
const SPARSE = [...generateChain({ seed: 65, blocks: 20, txPerBlock: 2 }).blocks];

/** Continues the index in the folder up to a block. */
async function indexTo(
  t: TestContext,
  dir: string,
  head: number,
  { traces = true, index = {} }: { traces?: boolean; index?: Partial<IndexerThreadOptions['index']> } = {},
): Promise<TestIndexer> {
  const node = await startNode(t, { chain: CHAIN, traces, head });
  const indexer = startIndexer(t, { http: node.url, dir, index });
  await indexer.reaches(head);
  await waitFor(() => indexer.status().capabilities !== null, { what: 'the node to be probed' });
  await indexer.client.stop();
  return indexer;
}

/** Builds or continues the index in the folder up to a block, without the thread. */
async function buildTo(
  t: TestContext,
  dir: string,
  head: number,
  { chain = CHAIN, traces = true }: { chain?: typeof CHAIN; traces?: boolean } = {},
): Promise<string> {
  const node = await startNode(t, { chain });
  return buildIndex({ url: node.url, dir, head, startBlock: 1, traces });
}

/** What /status says about internal transfers, and the warnings about traces. */
function told(indexer: TestIndexer): { complete: boolean | null; reason: string | null; warnings: string[] } {
  const { internalTransfers, internalTransfersReason } = describeStatus(indexer.status(), 0, Date.now());
  return {
    complete: internalTransfers,
    reason: internalTransfersReason,
    warnings: indexer.logs.filter((line) => line.startsWith('warn') && /internal transfers/.test(line)),
  };
}

function internalTransfersIn(path: string, from: number, to: number): number {
  const db = openDatabase(path, { readonly: true });
  const count = db
    .prepare<[number, number, number], number>(/* sql */ `
      SELECT count(*) FROM transfers WHERE kind = ?
        AND id > (SELECT coalesce(max(last_transfer), 0) FROM blocks WHERE number < ?)
        AND id <= (SELECT last_transfer FROM blocks WHERE number = ?)`)
    .pluck()
    .get(TransferKind.nativeInternal, from, to);
  db.close();
  return count ?? 0;
}

const GAP = 'blocks 21 to 40 were indexed without traces';
const ADVICE =
  'to add their internal transfers from a node that traces them, stop the daemon and run "atlas-node verify ' +
  '--repair 21..40", which indexes 40 blocks again';

const WITHOUT = {
  'a node that refuses traces': { traces: false },
  'index.traces off': { index: { traces: false } },
};

for (const [name, without] of Object.entries(WITHOUT)) {
  test(`blocks indexed with ${name} are reported, then and after traces are back`, async (t) => {
    const dir = tempDir(t);
    await buildTo(t, dir, 20);
    const during = await indexTo(t, dir, 40, without);
    assert.equal(told(during).complete, false);
    assert.match(told(during).reason ?? '', /trace.*; blocks 21 to 40 were indexed without traces$/);
    assert.match(told(during).warnings.join('\n'), /^warn the node offers no traces: [^\n]*"from":21/);

    const after = await indexTo(t, dir, 60);
    assert.deepEqual(
      [1, 21, 41].map((from) => internalTransfersIn(after.path, from, from + 19) > 0),
      [true, false, true],
    );
    assert.equal(told(after).complete, false);
    assert.ok(told(after).reason?.startsWith(`${GAP}; ${ADVICE}`), told(after).reason ?? 'no reason');
    assert.match(
      told(after).warnings.join('\n'),
      /^warn internal transfers of some blocks are missing .*21 to 40/,
    );
  });
}

test('a repair adds the internal transfers that verify names as missing, and ends the warnings', async (t) => {
  const dir = tempDir(t);
  await buildTo(t, dir, 20);
  await buildTo(t, dir, 40, { traces: false });
  const path = await buildTo(t, dir, 60);
  const node = await startNode(t, { chain: CHAIN });
  const found = await verifyFile({ path, http: node.url, sample: 1 });
  const notes = found.checks.flatMap((check) => check.notes);
  assert.ok(
    notes.some((note) => note.startsWith(`${GAP}; ${ADVICE}`)),
    notes.join('\n'),
  );
  const { replacedFrom, differing } = await repairFile(path, node.url, 21, 40);
  assert.ok(replacedFrom !== null && replacedFrom >= 21 && replacedFrom < 40, `from ${replacedFrom}`);
  assert.equal(differing.length, 1, 'behind the first one nothing is compared');
  const fresh = await indexTo(t, tempDir(t), 60);
  assert.deepEqual(told(fresh), { complete: true, reason: null, warnings: [] });
  assert.deepEqual(dumpIndex(path), dumpIndex(fresh.path));
  assert.deepEqual(told(await indexTo(t, dir, 60)), { complete: true, reason: null, warnings: [] });
});

test('a repair keeps the blocks that have no internal transfers, and they count as traced then', async (t) => {
  const node = await startNode(t, { chain: SPARSE });
  const fresh = await buildTo(t, tempDir(t), 20, { chain: SPARSE });
  const numbers = SPARSE.map((_, i) => i + 1);
  const has = (block: number) => internalTransfersIn(fresh, block, block) > 0;
  const without = numbers.find((block) => block > 1 && block < 19 && !has(block) && has(block + 1));
  assert.ok(without !== undefined, 'the chain has such a block before one with internal transfers');
  for (const last of [without, without + 1]) {
    const dir = tempDir(t);
    await buildTo(t, dir, without - 1, { chain: SPARSE });
    await buildTo(t, dir, last, { chain: SPARSE, traces: false });
    const path = await buildTo(t, dir, 20, { chain: SPARSE });
    assert.notDeepEqual(dumpIndex(path), dumpIndex(fresh));
    const { replacedFrom } = await repairFile(path, node.url, without, last);
    assert.equal(replacedFrom, last === without ? null : last);
    assert.deepEqual(dumpIndex(path), dumpIndex(fresh));
  }
});

test('an index that never had traces says so at every start, without a warning', async (t) => {
  const dir = tempDir(t);
  await buildTo(t, dir, 10, { traces: false });
  const again = await indexTo(t, dir, 20, { traces: false });
  assert.deepEqual(again.status().untraced, {
    first: 1,
    last: 20,
    blocks: 20,
    reasons: [{ reason: NOT_TRACED, blocks: 20 }],
  });
  assert.deepEqual(told(again).warnings, []);
  assert.match(told(again).reason ?? '', /; blocks 1 to 20 were indexed without traces$/);
});

test('a repair without traces leaves the trace gaps unchanged', async (t) => {
  const dir = tempDir(t);
  await buildTo(t, dir, 20, { traces: false });
  const path = await buildTo(t, dir, 30);
  const before = dumpIndex(path);
  const untraced = await startNode(t, { chain: CHAIN, traces: false });
  assert.equal((await repairFile(path, untraced.url, 1, 20)).replacedFrom, null);
  assert.deepEqual(dumpIndex(path), before);
});

test('traces come from a node of their own, which must be on the same chain', async (t) => {
  const [plain, tracing] = await Promise.all([
    startNode(t, { chain: CHAIN, traces: false, head: 30 }),
    startNode(t, { chain: CHAIN, head: 30 }),
  ]);
  const indexer = startIndexer(t, { http: plain.url, tracesHttp: tracing.url, dir: tempDir(t) });
  await indexer.reaches(30);
  assert.equal(indexer.status().untraced, null);
  assert.equal(plain.stats().byMethod.debug_traceBlockByHash ?? 0, 0);

  const other = await startNode(t, { chain: generateChain({ seed: 62, blocks: 60 }).blocks, head: 30 });
  const refused = startIndexer(t, { http: plain.url, tracesHttp: other.url, dir: tempDir(t) });
  await waitFor(() => refused.status().reason?.startsWith('the node_traces node is on another chain: '), {
    what: 'the refusal',
  });
});
