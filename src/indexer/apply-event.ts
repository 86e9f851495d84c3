/** Stores one sync event: blocks or a rollback. */
import { setImmediate } from 'node:timers/promises';
import { batchBuffers } from '../decode/batch.ts';
import { bytesToHex } from '../lib/hex.ts';
import type { IndexedBlock } from '../model/block.ts';
import { type BlockBatch, packedHash } from '../model/block-batch.ts';
import type { AdaptiveCommitSize } from './adaptive-commit-size.ts';
import type { Reorg } from './chain-guard.ts';
import type { SyncEvent } from './follow.ts';
import type { IndexerContext } from './indexer-context.ts';
import { readContents } from './progress.ts';
import { retryWriteAndReport } from './retry-write.ts';

/** A commit was rolled back because the thread must stop. */
export class CommitAbandoned extends Error {}

/** Stores an event and reports it. Returns early when the thread must stop. */
export async function applyEvent(
  context: IndexerContext,
  event: SyncEvent,
  commitSizer: AdaptiveCommitSize,
  signal: AbortSignal,
): Promise<void> {
  if (event.kind === 'reorg') return applyRollback(context, event, signal);
  try {
    await commit(context, event.batches, commitSizer, signal);
  } catch (error) {
    if (!(error instanceof CommitAbandoned)) throw error; // else its blocks are indexed after the next start
  }
}

async function commit(
  context: IndexerContext,
  batches: readonly BlockBatch[],
  commitSizer: AdaptiveCommitSize,
  signal: AbortSignal,
): Promise<void> {
  const { store, checkpoints, progress, send, onCommitStep } = context;
  const preparedAt = performance.now();
  store.prepare(batches, onCommitStep); // while the last commit is still being checkpointed
  await checkpoints.whenIdle();
  announce(context, batches);
  const startedAt = performance.now();
  let walBytes = 0;
  const append = (): void => {
    walBytes = store.append(batches, onCommitStep);
  };
  if (!(await retryWriteAndReport(context, append, signal))) return;
  checkpoints.checkpointIfLarge(walBytes);
  const seconds = (performance.now() - preparedAt) / 1000;
  commitSizer.adapt({ ...sizeOf(batches), walBytes, changesBytes: store.changesBytes, seconds });
  const head = lastBlockOf(batches);
  progress.recordCommit(batches, head, (performance.now() - startedAt) / 1000);
  if (batches.some(({ skipped }) => skipped.length > 0)) progress.setSkipped(store.skippedLogs());
  const from = batches[0]?.number[0] ?? head.number;
  const committedAt = performance.timeOrigin + performance.now();
  const { number: to, hash, timestamp } = head;
  send({ kind: 'watermark', watermark: { kind: 'committed', from, to, hash, timestamp, committedAt } });
}

function sizeOf(batches: readonly BlockBatch[]): { transfers: number; batchBytes: number } {
  let [transfers, batchBytes] = [0, 0];
  for (const batch of batches) {
    transfers += batch.transferCount;
    for (const { byteLength } of batchBuffers(batch)) batchBytes += byteLength;
  }
  return { transfers, batchBytes };
}

/**
 * Largest commit, in transfers, that the serving thread receives in advance: it copies and searches that many in under
 * a millisecond. It reads larger commits from the index.
 */
const MAX_ANNOUNCED_TRANSFERS = 4_000;

function announce({ progress, send }: IndexerContext, batches: readonly BlockBatch[]): void {
  const count = batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
  if (count === 0 || count > MAX_ANNOUNCED_TRANSFERS) return;
  send({ kind: 'committing', blocks: { batches, firstTransfer: progress.status.transfers + 1 } });
}

/** Log a deeper rollback before it begins, so that the log shows it whatever happens next. */
const USUAL_ROLLBACK_BLOCKS = 3;

async function applyRollback(
  context: IndexerContext,
  { from, to }: Reorg,
  signal: AbortSignal,
): Promise<void> {
  const { store, progress, send, log } = context;
  const depth = from - to;
  if (depth > USUAL_ROLLBACK_BLOCKS) log.warn({ from, to, depth }, 'rolling back a reorg');
  // Keep the height before the first reorg: another one may follow before the index is back at that height.
  const height = Math.max(from, store.anchors().reorgFrom ?? from);
  if (!(await retryWriteAndReport(context, () => store.setReorgFrom(height), signal))) return;
  let isDone = false;
  const write = (): void => {
    isDone = store.rollbackStep(to);
    progress.setContents(readContents(store));
  };
  while (!isDone) {
    if (!(await retryWriteAndReport(context, write, signal))) return;
    await setImmediate(); // a deep rollback takes minutes: send reports and notice the signal in between
  }
  progress.recordRollback(depth);
  log.warn({ from, to, depth }, 'rolled back a reorg');
  const hash = progress.status.head?.hash ?? null;
  send({ kind: 'watermark', watermark: { kind: 'rolled-back', to, hash } });
}

function lastBlockOf(batches: readonly BlockBatch[]): IndexedBlock {
  const last = batches.at(-1);
  const i = (last?.blockCount ?? 0) - 1;
  if (last === undefined || i < 0) throw new Error('a batch without blocks was stored');
  return {
    number: last.number[i]!,
    hash: bytesToHex(packedHash(last.hash, i)),
    timestamp: last.timestamp[i]!,
  };
}
