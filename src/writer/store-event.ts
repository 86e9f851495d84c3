/** Storing an event of the sync: blocks, or a rollback. */
import { bytesToHex } from '../lib/hex.ts';
import type { SyncEvent } from '../sync/sync.ts';
import type { BlockBatch, IndexedBlock } from '../types.ts';
import type { CommitSize } from './commit-size.ts';
import type { Parts } from './parts.ts';
import { type Contents, contentsOf } from './progress.ts';
import { whenStored } from './trouble.ts';

/** Stores what the sync yielded and reports it. Returns as soon as the signal aborts. */
export async function storeEvent(
  parts: Parts,
  event: SyncEvent,
  commitSize: CommitSize,
  signal: AbortSignal,
): Promise<void> {
  if (event.kind === 'reorg') return rollBack(parts, event.to, signal);
  const { store, checkpoints, progress, send } = parts;
  store.prepare(event.batches); // while the last commit is still being checkpointed
  await checkpoints.idle();
  const started = performance.now();
  let walBytes = 0;
  const append = (): void => {
    walBytes = store.append(event.batches);
  };
  if (!(await whenStored(parts, append, signal))) return;
  checkpoints.begin(walBytes);
  commitSize.note(event.batches, walBytes);
  const head = lastBlockOf(event.batches);
  progress.committed(event.batches, head, (performance.now() - started) / 1000);
  const from = event.batches[0]?.number[0] ?? head.number;
  const committedAt = performance.timeOrigin + performance.now();
  const { number: to, hash, timestamp } = head;
  send({ kind: 'watermark', watermark: { kind: 'committed', from, to, hash, timestamp, committedAt } });
}

async function rollBack(parts: Parts, to: number, signal: AbortSignal): Promise<void> {
  const { store, progress, send } = parts;
  const from = progress.status.head?.number ?? to;
  let left: Contents = { head: null, transfers: 0, untraced: null };
  const roll = (): void => {
    store.rollback(to);
    left = contentsOf(store);
  };
  if (!(await whenStored(parts, roll, signal))) return;
  progress.rolledBack(from - to, left);
  send({ kind: 'log', level: 'warn', msg: 'rolled back a reorg', facts: { from, to } });
  const hash = progress.status.head?.hash ?? null;
  send({ kind: 'watermark', watermark: { kind: 'rolled-back', to, hash } });
}

function lastBlockOf(batches: readonly BlockBatch[]): IndexedBlock {
  const last = batches.at(-1);
  const i = (last?.blockCount ?? 0) - 1;
  if (last === undefined || i < 0) throw new Error('a batch without blocks was stored');
  return {
    number: last.number[i]!,
    hash: bytesToHex(last.hash.subarray(-32)),
    timestamp: last.timestamp[i]!,
  };
}
