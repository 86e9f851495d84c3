/** Completes what the index derives from its transfers (store/derived.ts), beside indexing. */
import { pause, type WakeablePause } from '../lib/async.ts';
import type { IndexerContext } from './indexer-context.ts';
import { retryWriteAndReport } from './retry-write.ts';

/** Transfers per step: some 30 ms, which a new block waits at most. */
const TRANSFERS_PER_STEP = 20_000;

/** Least pause between steps, milliseconds. */
const MIN_PAUSE_MS = 5;

/** A wake is not lost, so this may be long. */
const IDLE_MS = 3_600_000;

interface DeriveContext extends Pick<IndexerContext, 'store' | 'progress' | 'log'> {
  checkpoints: Pick<IndexerContext['checkpoints'], 'whenIdle' | 'checkpointIfLarge'>;
}

/** Completes it again whenever `changed` wakes, because the lists of trades may be others. Throws as a commit does. */
export async function keepDerived(
  context: DeriveContext,
  changed: WakeablePause,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await completeDerived(context, signal);
    await changed.wait(IDLE_MS, signal);
  }
}

/**
 * Runs steps until everything is complete; then commits and rollbacks keep it so. Commits come in between: a step never
 * takes more than half of the thread's time. Throws as a commit does.
 */
export async function completeDerived(context: DeriveContext, signal: AbortSignal): Promise<void> {
  const { store, checkpoints, progress, log } = context;
  let isLogged = false;
  while (!signal.aborted) {
    const incomplete = store.incompleteDerived();
    progress.setDerived(incomplete);
    if (incomplete.length > 0 && !isLogged)
      log.info({ ends: incomplete }, 'adding to older blocks what they lack, while indexing goes on');
    isLogged ||= incomplete.length > 0;
    await checkpoints.whenIdle();
    const startedAt = performance.now();
    let walBytes: number | null = 0;
    const step = (): void => {
      walBytes = store.deriveStep(TRANSFERS_PER_STEP);
    };
    if (signal.aborted || !(await retryWriteAndReport(context, step, signal))) return;
    if (walBytes === null) break;
    checkpoints.checkpointIfLarge(walBytes);
    await pause(Math.max(MIN_PAUSE_MS, performance.now() - startedAt), signal);
  }
  if (isLogged && !signal.aborted) log.info({}, 'older blocks lack nothing any more');
}
