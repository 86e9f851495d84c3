import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { applyEvent } from '../../src/writer/apply-event.ts';
import { CommitSizer } from '../../src/writer/commit-sizer.ts';
import type { IndexerContext } from '../../src/writer/indexer-context.ts';
import { Progress, readContents } from '../../src/writer/progress.ts';
import type { FromWriter } from '../../src/writer/protocol.ts';
import { randomBlocks, toBatch } from '../support/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = `0x${'00'.repeat(32)}`;

test('a deep rollback ends at the next step when the daemon stops, and is gone on with later', async (t) => {
  const store = new IndexWriter(join(tempDir(t), 'index.db'), { cacheMb: 8 });
  t.after(() => store.close());
  store.setChain(1, 1);
  store.append([toBatch(randomBlocks(1, 2_000, ROOT, 4))]);
  const progress = new Progress(5);
  progress.initialize(readContents(store), 1);
  const sent: FromWriter[] = [];
  const send = (message: FromWriter) => sent.push(message);
  const context = { store, progress, send } as unknown as IndexerContext;
  const rollBack = (signal: AbortSignal) =>
    applyEvent(context, { kind: 'reorg', to: 10 }, new CommitSizer(1_000), signal);

  const stop = new AbortController();
  const stopped = rollBack(stop.signal);
  stop.abort();
  await stopped;
  const reached = store.head()?.number ?? 0;
  assert.ok(reached > 10 && reached < 2_000, `block ${reached}`);
  assert.ok(sent.every(({ kind }) => kind !== 'watermark'));
  assert.equal(progress.status.head?.number, reached, 'the status tells how far it is');
  assert.equal(progress.status.transfers, store.transferCount());

  await rollBack(new AbortController().signal);
  assert.equal(store.head()?.number, 10);
  assert.deepEqual(
    sent.flatMap((message) => (message.kind === 'watermark' ? [message.watermark] : [])),
    [{ kind: 'rolled-back', to: 10, hash: store.head()?.hash }],
  );
});
