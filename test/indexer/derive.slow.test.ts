/** An index of an earlier release gets what is derived from its transfers while it grows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { growthBatch, TRANSFERS_PER_BLOCK } from '../../scripts/bench/setup/growth-chain.ts';
import { completeDerived } from '../../src/indexer/derive.ts';
import { Progress } from '../../src/indexer/progress.ts';
import type { CheckpointClient } from '../../src/store/checkpoint-client.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { SILENT } from '../support/logs.ts';
import { tempDir } from '../support/temp-dir.ts';

/** More transfers than two steps add. */
const BLOCKS = 170;

function grownIndex(t: TestContext, name: string, blocks: number): string {
  const path = join(tempDir(t), name);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([growthBatch(1, blocks)]);
  writer.close();
  return path;
}

/** Completes the index until `onStep`, called after each step, aborts. */
async function complete(
  path: string,
  onStep: (writer: IndexWriter, stop: AbortController, progress: Progress) => void,
): Promise<void> {
  const store = new IndexWriter(path, { cacheMb: 8 });
  const progress = new Progress(5);
  const stop = new AbortController();
  const checkpoints: Pick<CheckpointClient, 'whenIdle' | 'checkpointIfLarge'> = {
    whenIdle: () => Promise.resolve(),
    checkpointIfLarge: () => onStep(store, stop, progress),
  };
  try {
    await completeDerived({ store, progress, checkpoints, log: SILENT }, stop.signal);
  } finally {
    store.close();
  }
}

test('an older index is completed in steps, across stops and commits, and tells how far it is', async (t) => {
  const path = grownIndex(t, 'older.db', BLOCKS);
  forgetDerived(path);
  const ends: number[] = [];
  const note = ({ status }: Progress) =>
    ends.push(...status.derived.flatMap((end) => (end.name === 'token_history' ? end.lastTransfer : [])));
  await complete(path, (_, stop, progress) => {
    note(progress);
    stop.abort();
  });
  let blocks = BLOCKS;
  await complete(path, (writer, _, progress) => {
    note(progress);
    if (blocks < BLOCKS + 3) writer.append([growthBatch(++blocks, 1)]);
  });
  assert.ok(ends.length >= 3 && ends[0] === 0, `${ends}`);
  assert.deepEqual(
    ends,
    ends.toSorted((a, b) => a - b),
  );
  const fresh = grownIndex(t, 'new.db', blocks);
  assert.deepEqual(
    dumpIndex(path).filter((row) => /^(tokens|token_activity|token_mints|derived) /.test(row)),
    dumpIndex(fresh).filter((row) => /^(tokens|token_activity|token_mints|derived) /.test(row)),
  );
  await complete(path, () => assert.fail('nothing is left to do'));
  assert.ok(blocks * TRANSFERS_PER_BLOCK > 40_000);
});
