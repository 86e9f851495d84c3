/** Problems that pause indexing, shown in the status and the log. */
import { type StorageError, UpstreamError } from '../errors.ts';
import type { Parts } from './parts.ts';
import { untilStored } from './storage.ts';

/** Retries a write until the disk accepts it, showing why it does not; false when stopped first. */
export function whenStored(
  parts: Pick<Parts, 'progress' | 'send'>,
  write: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  return untilStored(write, (error, retryInMs) => noteTrouble(parts, error, retryInMs), signal);
}

/** Shows a problem in the status; logs it when it is new and when it is over, not on every try. */
export function noteTrouble(
  { progress, send }: Pick<Parts, 'progress' | 'send'>,
  error: UpstreamError | StorageError | null,
  retryInMs: number,
): void {
  const reason = error === null ? null : error.message;
  const known = progress.trouble(reason);
  if (reason !== null && known !== reason) {
    const isNode = error instanceof UpstreamError;
    send({
      kind: 'log',
      level: isNode ? 'warn' : 'error',
      msg: isNode ? 'the node gave no usable answer' : 'indexing is paused: the index cannot be written',
      facts: { reason, retryInMs },
    });
  }
  if (reason === null && known !== null)
    send({ kind: 'log', level: 'info', msg: 'indexing goes on', facts: { after: known } });
}
