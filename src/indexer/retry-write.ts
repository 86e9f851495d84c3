/** Problems that pause indexing, shown in the status and the log. */
import { backoffMs, pause } from '../lib/async.ts';
import { ChainMismatchError, StorageError, UpstreamError } from '../lib/errors.ts';
import type { NodeChain } from '../model/index-status.ts';
import type { IndexerContext } from './indexer-context.ts';

/** Shortest and longest wait before a failed write is tried again, milliseconds. */
const RETRY_MIN_MS = 500;

const RETRY_MAX_MS = 10_000;

/**
 * Retries a write until it succeeds; a failed one has changed nothing. `onFailure` is called with the error of each
 * failed try, and with null when one succeeds after that. Returns false when the signal aborts; throws any other error
 * than StorageError.
 */
export async function retryWrite(
  write: () => void,
  onFailure: (error: StorageError | null, retryInMs: number) => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      write();
      if (attempt > 1) onFailure(null, 0);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const wait = backoffMs(attempt, RETRY_MIN_MS, RETRY_MAX_MS);
      onFailure(error, wait);
      await pause(wait, signal);
    }
  }
  return false;
}

/** Retries a write until the disk accepts it, showing why it does not; false when stopped first. */
export function retryWriteAndReport(
  context: Pick<IndexerContext, 'progress' | 'log'>,
  write: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  return retryWrite(write, (error, retryInMs) => reportFailure(context, error, retryInMs), signal);
}

/**
 * For how long a failure may be momentary, milliseconds: longer than the nodes behind one address are apart, or than a
 * node takes from the header of a block to its receipts. By the waits of the sync, the sixth in a row is told, after
 * some 2.8 s.
 */
const MOMENT_MS = 2_000;

/**
 * Whether a failure is of a node that answers, but is busy for a moment, between two branches or not as far as the one
 * that was asked before: with some providers one call in fifty, or every other block. It is reported only if it goes
 * on.
 */
export function isMomentary(error: UpstreamError | StorageError | null, failingMs: number): boolean {
  if (!(error instanceof UpstreamError) || error instanceof ChainMismatchError) return false;
  return error.reason !== 'timeout' && error.reason !== 'connection' && failingMs < MOMENT_MS;
}

/** Shows a problem in the status; logs it when it is new and when it is over, not on every try. */
export function reportFailure(
  { progress, log }: Pick<IndexerContext, 'progress' | 'log'>,
  error: UpstreamError | StorageError | null,
  retryInMs: number,
): void {
  const reason = error === null ? null : error.message;
  const previous = progress.setPauseReason(reason);
  if (error instanceof ChainMismatchError) return reportMismatch({ progress, log }, error);
  if (reason === previous) return;
  if (reason === null) log.info({ after: previous }, 'indexing goes on');
  else if (error instanceof UpstreamError) log.warn({ reason, retryInMs }, 'the node gave no usable answer');
  else log.error({ reason, retryInMs }, 'indexing is paused: the index cannot be written');
}

function reportMismatch(
  { progress, log }: Pick<IndexerContext, 'progress' | 'log'>,
  { chain, message }: ChainMismatchError,
): void {
  const isNew = progress.setNodeChain(chain) !== chain;
  if (isNew && progress.chainLog.allows(chain)) log.error({ chain, reason: message }, 'indexing is paused');
}

/** A step succeeded: the node is on the indexed chain, or behind it. */
export function reportSuccess(context: Pick<IndexerContext, 'progress' | 'log'>): void {
  const { progress, log } = context;
  const ahead = progress.blocksAhead;
  const previous = progress.setNodeChain(ahead > 0 ? 'behind' : 'same');
  if (ahead === 0) {
    if (!isPause(previous)) return reportFailure(context, null, 0);
    progress.setPauseReason(null);
    if (progress.chainLog.allows(`after ${previous}`)) log.info({ after: previous }, 'indexing goes on');
    return;
  }
  const reason = `the node is ${ahead} blocks behind the index: nothing is rolled back, and indexing goes on when it has caught up`;
  progress.setPauseReason(reason);
  if (previous !== 'behind' && progress.chainLog.allows('behind'))
    log.warn({ reason }, 'indexing waits for the node');
}

function isPause(chain: NodeChain): boolean {
  return chain !== 'unchecked' && chain !== 'same';
}
