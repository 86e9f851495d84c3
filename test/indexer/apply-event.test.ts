import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AdaptiveCommitSize } from '../../src/indexer/adaptive-commit-size.ts';
import { applyEvent, CommitAbandoned } from '../../src/indexer/apply-event.ts';
import type { IndexerContext } from '../../src/indexer/indexer-context.ts';
import { Progress, readContents } from '../../src/indexer/progress.ts';
import type { FromIndexer } from '../../src/indexer/protocol.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { SILENT } from '../support/logs.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = `0x${'00'.repeat(32)}`;

function openContext(t: TestContext) {
  const path = join(tempDir(t), 'index.db');
  const store = new IndexWriter(path, { cacheMb: 8 });
  t.after(() => store.close());
  store.setChain(1, 1);
  const progress = new Progress(5);
  const sent: FromIndexer[] = [];
  const send = (message: FromIndexer) => sent.push(message);
  const watermarks = () =>
    sent.flatMap((message) => (message.kind === 'watermark' ? [message.watermark] : []));
  return { path, store, progress, send, log: SILENT, watermarks };
}

function newSizer(maxTransfers: number): AdaptiveCommitSize {
  return new AdaptiveCommitSize({ maxTransfers, memoryBytes: 2 ** 29, walBytes: () => 2 ** 28 });
}

test('a commit waits for the last checkpoint, and the size of the WAL triggers the next one', async (t) => {
  const { store, progress, send, log, watermarks } = openContext(t);
  const order: string[] = [];
  const checkpoints = {
    async whenIdle() {
      await Promise.resolve();
      order.push(`idle at ${store.head()?.number}`);
    },
    checkpointIfLarge(walBytes: number) {
      order.push(`asked at ${store.head()?.number} with ${walBytes > 100_000 ? 'its size' : walBytes}`);
    },
  };
  const context = { store, progress, send, log, checkpoints } as unknown as IndexerContext;
  const sizer = newSizer(100_000);
  const batches = [toBatch(randomBlocks(1, 400, ROOT, 4))];
  await applyEvent(context, { kind: 'blocks', batches }, sizer, new AbortController().signal);
  assert.deepEqual(order, ['idle at undefined', 'asked at 400 with its size']);
  assert.deepEqual(
    watermarks().map(({ kind, to }) => [kind, to]),
    [['committed', 400]],
  );
  assert.equal(
    sizer.targetTransfers,
    4 * Math.max(5_000, store.head()?.lastTransfer ?? 0),
    'the next may be larger',
  );
});

test('blocks that the disk refused until the stop are not reported as committed', async (t) => {
  const { path, store, progress, send, log, watermarks } = openContext(t);
  const stop = new AbortController();
  const checkpoints = {
    whenIdle: () => Promise.resolve(),
    checkpointIfLarge: () => assert.fail('nothing was committed'),
  };
  const context = { store, progress, send, log, checkpoints } as unknown as IndexerContext;
  const batches = [toBatch(randomBlocks(1, 20, ROOT, 4))];
  renameSync(path, `${path}.away`);
  const applied = applyEvent(context, { kind: 'blocks', batches }, newSizer(1_000), stop.signal);
  setImmediate(() => stop.abort());
  await applied;
  renameSync(`${path}.away`, path);
  assert.deepEqual(watermarks(), []);
  assert.equal(store.head(), null);
});

test('a stop abandons a commit, and its blocks can be stored later', async (t) => {
  const { store, progress, send, log, watermarks } = openContext(t);
  const checkpoints = { whenIdle: () => Promise.resolve(), checkpointIfLarge: () => undefined };
  let isStopping = true;
  const onCommitStep = () => {
    if (isStopping) throw new CommitAbandoned();
  };
  const context = { store, progress, send, log, checkpoints, onCommitStep } as unknown as IndexerContext;
  const batches = [toBatch(randomBlocks(1, 400, ROOT, 4))];
  const commit = () =>
    applyEvent(context, { kind: 'blocks', batches }, newSizer(100_000), new AbortController().signal);
  await commit();
  assert.equal(store.head(), null);
  assert.deepEqual(watermarks(), []);
  isStopping = false;
  await commit();
  assert.equal(store.head()?.number, 400);
});

test('a deep rollback ends at the next step when the daemon stops, and resumes later', async (t) => {
  const { store, progress, send, log, watermarks } = openContext(t);
  store.append([toBatch(randomBlocks(1, 2_000, ROOT, 4))]);
  progress.setContents(readContents(store));
  const context = { store, progress, send, log } as unknown as IndexerContext;
  const rollBack = (signal: AbortSignal) =>
    applyEvent(context, { kind: 'reorg', from: 2_000, to: 10 }, newSizer(1_000), signal);

  const stop = new AbortController();
  const stopped = rollBack(stop.signal);
  setImmediate(() => stop.abort());
  await stopped;
  const reached = store.head()?.number ?? 0;
  assert.ok(reached > 10 && reached < 2_000, `block ${reached}`);
  assert.deepEqual(watermarks(), []);
  assert.equal(progress.status.head?.number, reached, 'the status tells how far it is');
  assert.equal(progress.status.transfers, store.head()?.lastTransfer);

  await rollBack(new AbortController().signal);
  assert.equal(store.head()?.number, 10);
  assert.deepEqual(watermarks(), [{ kind: 'rolled-back', to: 10, hash: store.head()?.hash }]);
});
