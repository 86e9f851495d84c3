/** Problems that pause indexing, shown in the status and the log. */
import { type StorageError, UpstreamError } from '../errors.ts';
import type { IndexerContext } from './indexer-context.ts';
import { retryWrite } from './retry-write.ts';

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
  const answers =
    error instanceof UpstreamError && error.reason !== 'timeout' && error.reason !== 'connection';
  return answers && failingMs < MOMENT_MS;
}

/** Shows a problem in the status; logs it when it is new and when it is over, not on every try. */
export function reportFailure(
  { progress, log }: Pick<IndexerContext, 'progress' | 'log'>,
  error: UpstreamError | StorageError | null,
  retryInMs: number,
): void {
  const reason = error === null ? null : error.message;
  const previous = progress.setPauseReason(reason);
  if (reason === previous) return;
  if (reason === null) log.info({ after: previous }, 'indexing goes on');
  else if (error instanceof UpstreamError) log.warn({ reason, retryInMs }, 'the node gave no usable answer');
  else log.error({ reason, retryInMs }, 'indexing is paused: the index cannot be written');
}
