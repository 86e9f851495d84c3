/** Calls held off while a node limits them: a 429, or a 503 with Retry-After, reaches the client as such. */
import { UpstreamError } from '../lib/errors.ts';
import type { ResponseHead } from '../node/http/streaming-client.ts';

/** Longest time for which calls are held off, milliseconds. */
const LONGEST_MS = 60_000;
/**
 * A call waits out the end of a hold, milliseconds: a client that retries at once, or ignores Retry-After, would use up
 * its attempts.
 */
export const WAIT_MS = 1_000;
/** What a client is told when the node does not say how long to wait, seconds. */
const DEFAULT_SECONDS = 1;

/** The node refuses calls for a while, whatever they ask. */
export interface Throttle {
  status: 429 | 503;
  /** Seconds, at least 1. */
  retryAfter: number;
}

/** The throttle in the head of an answer; null for any other answer. */
export function throttleIn({
  status,
  retryAfter,
}: Pick<ResponseHead, 'status' | 'retryAfter'>): Throttle | null {
  if (status !== 429 && !(status === 503 && retryAfter !== null)) return null;
  return { status, retryAfter: Math.max(1, retryAfter ?? DEFAULT_SECONDS) };
}

/** The throttle that an error of a call reports; null for any other error. */
export function throttleOf({ httpStatus = 0, retryAfter }: UpstreamError): Throttle | null {
  return throttleIn({ status: httpStatus, retryAfter: retryAfter ?? null });
}

export function throttleError(method: string, { status, retryAfter }: Throttle): UpstreamError {
  return new UpstreamError('http', `${method}: HTTP ${status}`, undefined, {
    httpStatus: status,
    retryAfter,
  });
}

/** The Retry-After of each node, by its position; undefined for the only one. */
export class HoldOff {
  private readonly holds = new Map<number | undefined, { status: Throttle['status']; until: number }>();

  /** The node asked to be left alone for `seconds` from `now` (performance.now()). */
  begin(node: number | undefined, status: Throttle['status'], seconds: number, now: number): void {
    if (seconds > 0) this.holds.set(node, { status, until: now + Math.min(LONGEST_MS, seconds * 1000) });
  }

  /** The throttle that still holds, with the rest of its time; null when the node may be called. */
  at(node: number | undefined, now: number): (Throttle & { leftMs: number }) | null {
    const hold = this.holds.get(node);
    if (hold === undefined) return null;
    const leftMs = hold.until - now;
    if (leftMs > 0) return { status: hold.status, retryAfter: Math.ceil(leftMs / 1000), leftMs };
    this.holds.delete(node);
    return null;
  }
}
