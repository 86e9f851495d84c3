import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { verifyText } from '../../src/cli/verify/verify-text.ts';
import type { JsonObject } from '../../src/decode/read-json.ts';
import { findWrongRoot, UnknownTypeError } from '../../src/indexer/block-roots.ts';
import type { IndexStatus } from '../../src/model/index-status.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { differencesOf, verifyFile } from '../support/index/verify.ts';
import { hideTransfers } from '../support/nodes/hide-transfers.ts';
import { type MisbehavingNode, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { recordedData, recordedDataOrSkip, recordedFile } from '../support/nodes/recorded.ts';
import { startRecordedNode, suiteCleanup } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

interface Recorded {
  block: JsonObject & { number: string; transactions: JsonObject[] };
  receipts: JsonObject[];
}

function recordedBlocks(folder: string, dataset: string): Recorded[] {
  const blocks = new Map<string, Partial<Recorded>>();
  for (const line of gunzipSync(readFileSync(recordedFile(folder, dataset)))
    .toString()
    .split('\n')) {
    if (line === '') continue;
    const { method, params, result } = JSON.parse(line);
    if (method !== 'eth_getBlockByNumber' && method !== 'eth_getBlockReceipts') continue;
    if (!result || params[1] === false || !/^0x[0-9a-f]+$/.test(params[0])) continue;
    const known = blocks.get(params[0]) ?? {};
    blocks.set(params[0], known);
    if (method === 'eth_getBlockByNumber') known.block = result;
    else known.receipts = result;
  }
  return [...blocks.values()].flatMap(({ block, receipts }) =>
    block && receipts ? [{ block, receipts }] : [],
  );
}

const DATASETS = [
  'eth-sparse-notrace',
  'eth-sparse-traced',
  'eth-17686164',
  'holesky-70951-notrace',
  'ropsten-sparse-traced',
  'monad-devnet-1-400-notrace',
];

test('real blocks of all types of transactions have the roots in their headers, and no changed one has', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  const types = new Set<unknown>();
  let blocks = 0;
  for (const dataset of DATASETS) {
    for (const { block, receipts } of recordedBlocks(folder, dataset).slice(0, 40)) {
      assert.equal(await findWrongRoot(block, receipts), null, `${dataset} ${Number(block.number)}`);
      blocks++;
      for (const { type } of block.transactions) types.add(type);
      const [receipt] = receipts;
      if (receipt === undefined || !Array.isArray(receipt['logs'])) continue;
      const without = [{ ...receipt, cumulativeGasUsed: '0x1' }, ...receipts.slice(1)];
      assert.match(
        (await findWrongRoot(block, without)) ?? '',
        /its receipts do not match the receipts root/,
      );
      const [first, ...others] = block.transactions;
      const changed = { ...block, transactions: [{ ...first, value: '0x7' }, ...others] };
      assert.match(
        (await findWrongRoot(changed, receipts)) ?? '',
        /its transactions do not match the transactions root/,
      );
    }
  }
  assert.ok(blocks > 40, `${blocks} blocks`);
  assert.deepEqual([...types].filter((type) => type !== undefined).sort(), [
    '0x0',
    '0x1',
    '0x2',
    '0x3',
    '0x4',
  ]);
});

test('reports a block with an unknown transaction type as unverifiable, not as wrong', async (t) => {
  const folder = recordedDataOrSkip(t);
  if (folder === null) return;
  for (const dataset of ['tempo-17708868-notrace', 'optimism-sparse-traced'])
    for (const { block, receipts } of recordedBlocks(folder, dataset))
      await assert.rejects(findWrongRoot(block, receipts), UnknownTypeError);
});

const FIRST = 17_686_111;
const LOSSY = 17_686_112;
const LAST = 17_686_113;

describe('a block that contradicts its header', () => {
  const cleanup = suiteCleanup();
  /** A node of the recorded blocks, and their index; null without the recordings. */
  let recorded: { node: ReplayNode; index: string } | null = null;

  before(async () => {
    const folder = recordedData();
    if (folder === null) return;
    const node = await startRecordedNode(cleanup, folder, 'eth-17686110-17686121', { head: LAST });
    const index = await buildIndex({ url: node.url, dir: tempDir(cleanup), startBlock: FIRST });
    recorded = { node, index };
  });

  /** A proxy of the recorded node, and its index; null, and reported, without the recordings. */
  async function proxied(t: TestContext) {
    if (recordedDataOrSkip(t) === null || recorded === null) return null;
    const proxy = await startMisbehavingNode({ upstream: recorded.node.url });
    t.after(() => proxy.close());
    return { proxy, index: recorded.index };
  }

  /** Indexes with the check until it says why it stops, below the block; then with a good node to the end. */
  async function indexes(
    t: TestContext,
    { proxy, index }: { proxy: MisbehavingNode; index: string },
    isRejected: (status: IndexStatus) => boolean,
  ) {
    const indexer = startIndexer(t, {
      http: proxy.url,
      dir: tempDir(t),
      index: { startBlock: FIRST, checkRoots: true },
    });
    await waitFor(() => isRejected(indexer.status()), { what: 'the block to be rejected' });
    assert.ok((indexer.status().head?.number ?? 0) < LOSSY);
    proxy.misbehave({});
    await indexer.reaches(LAST);
    await indexer.client.stop();
    assert.deepEqual(dumpIndex(indexer.path), dumpIndex(index));
  }

  test('with index.check_roots is rejected again and again when its receipts do not match', async (t) => {
    const given = await proxied(t);
    if (given === null) return;
    const { proxy } = given;
    proxy.misbehave({ replace: loseLogs });
    const reads = () =>
      proxy.requests.flatMap(({ calls }) =>
        calls.filter(
          ({ method, params }) => method === 'eth_getBlockReceipts' && Number(params[0]) === LOSSY,
        ),
      ).length;
    await indexes(t, given, () => reads() >= 3);
  });

  test('with index.check_roots is rejected when it was emptied, down to its gas', async (t) => {
    const given = await proxied(t);
    if (given === null) return;
    given.proxy.misbehave({
      replace(method, params, result) {
        if (Number(params[0]) !== LOSSY) return result;
        if (method === 'eth_getBlockReceipts') return [];
        if (method !== 'eth_getBlockByNumber') return result;
        return { ...(result as object), transactions: [], gasUsed: '0x0' };
      },
    });
    await indexes(t, given, ({ reason }) => /header does not hash to its hash/.test(reason ?? ''));
  });

  test('is named by verify --all, with how many it could prove', async (t) => {
    const given = await proxied(t);
    if (given === null) return;
    const { proxy, index: path } = given;
    const clean = verifyText(await verifyFile({ path, http: proxy.url, all: true, sample: 1 }));
    assert.match(clean, /^roots +equal +100 % +transactions and receipts of 3 blocks/m);
    proxy.misbehave({ replace: loseLogs });
    const report = await verifyFile({ path, http: proxy.url, all: true, sample: 1 });
    const roots = differencesOf(report).filter((text) => text.startsWith('roots: '));
    assert.deepEqual(roots, [
      `roots: the node's block ${LOSSY} contradicts its header: its receipts do not match the receipts root`,
    ]);
  });
});

/** Changes the last log of each receipt of a block. */
function loseLogs(method: string, params: readonly unknown[], result: unknown): unknown {
  return method === 'eth_getBlockReceipts' && Number(params[0]) === LOSSY
    ? hideTransfers(result, (at, count) => at === count - 1)
    : result;
}
