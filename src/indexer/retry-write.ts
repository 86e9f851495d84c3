/** Retries failed writes. Reports problems that pause indexing to the status and the log. */
import { retry } from '../lib/async.ts';
import { StorageError, UpstreamError } from '../lib/errors.ts';
import type { NodeChain } from '../model/index-status.ts';
import { ChainMismatchError } from './chain-guard.ts';
import type { IndexerContext } from './indexer-context.ts';

/** Backoff after failed writes, milliseconds. */
const RETRY_MIN_MS = 500;

const RETRY_MAX_MS = 10_000;

/**
 * Retries a write until it succeeds. A failed write has changed nothing. Calls `onFailure` with the error of each
 * failed attempt, and with null when a retry succeeds. Returns false when the signal aborts. Rethrows errors other than
 * StorageError.
 */
export async function retryWrite(
  write: () => void,
  onFailure: (error: StorageError | null, retryInMs: number) => void,
  signal: AbortSignal,
): Promise<boolean> {
  let hasFailed = false;
  const stored = await retry(
    () => {
      write();
      return true;
    },
    {
      firstMs: RETRY_MIN_MS,
      longestMs: RETRY_MAX_MS,
      signal,
      onFailure(error, _failures, waitMs) {
        if (!(error instanceof StorageError)) throw error;
        hasFailed = true;
        onFailure(error, waitMs);
      },
    },
  );
  if (stored && hasFailed) onFailure(null, 0);
  return stored === true;
}

/** Retries a write until it succeeds and reports failures. Returns false when the signal aborts first. */
export function retryWriteAndReport(
  context: Pick<IndexerContext, 'progress' | 'log'>,
  write: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  return retryWrite(write, (error, retryInMs) => reportFailure(context, error, retryInMs), signal);
}

/**
 * Failures shorter than this are momentary, milliseconds: longer than nodes behind one address differ, and longer than
 * a node takes from a block's header to its receipts. With the backoff of the sync, the sixth consecutive failure is
 * reported, after about 2.8 s.
 */
const MOMENT_MS = 2_000;

/**
 * Whether the node answers but is busy, switching branches, or behind the node that answered before. Some providers do
 * so for one call in fifty or for every other block, so it is reported only if it lasts.
 */
export function isMomentary(error: UpstreamError | StorageError | null, failingMs: number): boolean {
  if (!(error instanceof UpstreamError) || error instanceof ChainMismatchError) return false;
  return error.reason !== 'timeout' && error.reason !== 'connection' && failingMs < MOMENT_MS;
}

/** Shows a problem in the status. Logs its start and end, not every attempt. */
export function reportFailure(
  { progress, log }: Pick<IndexerContext, 'progress' | 'log'>,
  error: UpstreamError | StorageError | null,
  retryInMs: number,
): void {
  const reason = error === null ? null : error.message;
  const previous = progress.setPauseReason(reason);
  if (error instanceof ChainMismatchError) return reportMismatch({ progress, log }, error);
  if (reason === previous) return;
  if (reason === null) log.info({ after: previous }, 'indexing resumes');
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

/** Call after each successful step: the node is on the indexed chain, possibly behind. */
export function reportSuccess(context: Pick<IndexerContext, 'progress' | 'log'>): void {
  const { progress, log } = context;
  const ahead = progress.blocksAhead;
  const previous = progress.setNodeChain(ahead > 0 ? 'behind' : 'same');
  if (ahead === 0) {
    if (!isPause(previous)) return reportFailure(context, null, 0);
    progress.setPauseReason(null);
    if (progress.chainLog.allows(`after ${previous}`)) log.info({ after: previous }, 'indexing resumes');
    return;
  }
  const reason =
    `the node is ${ahead} blocks behind the index: nothing is rolled back; indexing resumes ` +
    'when the node has caught up';
  progress.setPauseReason(reason);
  if (previous !== 'behind' && progress.chainLog.allows('behind'))
    log.warn({ reason }, 'indexing waits for the node');
}

function isPause(chain: NodeChain): boolean {
  return chain !== 'unchecked' && chain !== 'same';
}
