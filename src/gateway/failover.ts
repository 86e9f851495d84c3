/** Handles failures of the node in use: how many calls it still gets, and what calls do if there are other nodes. */
import type { UpstreamError } from '../lib/errors.ts';
import { isUnreachable } from '../node/node-errors.ts';

/** Consecutive failures after which the node counts as down. */
const FAILURES = 5;
/** First and longest wait between two probes of a failing node, milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/** A circuit breaker: sends a failing node only an occasional probe. */
export class CircuitBreaker {
  private readonly onChange: (open: boolean) => void;
  private failures = 0;
  private waitMs = FIRST_WAIT_MS;
  /** When the next call may probe the node (performance.now()). */
  private nextTry = 0;

  /** `onChange` is called when the breaker opens (true) and closes (false). */
  constructor(onChange: (open: boolean) => void) {
    this.onChange = onChange;
  }

  /** Whether calls fail without reaching the node. */
  get isOpen(): boolean {
    return this.failures >= FAILURES;
  }

  /** Whether a call may go to the node now. A node that is down gets only an occasional probe. */
  admits(now: number): boolean {
    if (!this.isOpen) return true;
    if (now < this.nextTry) return false;
    this.waitMs = Math.min(LONGEST_WAIT_MS, this.waitMs * 2);
    this.nextTry = now + this.waitMs;
    return true;
  }

  /** The node answered, whatever the answer. */
  succeeded(): void {
    if (this.failures === 0) return;
    const wasOpen = this.isOpen;
    this.failures = 0;
    if (wasOpen) this.onChange(false);
  }

  /** Another node takes over. */
  reset(): void {
    this.failures = 0;
  }

  /** The node gave no usable answer. */
  failed(now: number): void {
    this.failures++;
    if (this.failures !== FAILURES) return;
    this.waitMs = FIRST_WAIT_MS;
    this.nextTry = now + FIRST_WAIT_MS;
    this.onChange(true);
  }
}

/** The chooser among several nodes, as seen by calls. */
export interface Failover {
  /** Position of the node in use. */
  readonly node: number;
  /** The lowest head that an answer may show; -1 for any. */
  readonly floor: number;
  /** A client was shown this head. */
  noteHead(head: number): void;
  /** Calls keep failing. */
  noteErrors(reason: string): void;
  /**
   * Calls `again` once, when a failed call that started at `startedAt` may be sent again. Null when it must fail now.
   * The returned function cancels.
   */
  awaitNode(startedAt: number, again: () => void): (() => void) | null;
}

/** Whether retrying a read that failed this way, at another node or later, may succeed. */
export function mayMoveRead(error: UpstreamError): boolean {
  return isUnreachable(error) || error.reason === 'inconsistent';
}

/** Whether a write certainly never reached the node, so that sending it to another node does not send it twice. */
export function isUnsent(error: UpstreamError, wasSent: boolean): boolean {
  const { cause } = error;
  return !wasSent || (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED');
}

/** The height in an answer to a call about the head; null without one. */
export function headShown(method: string, tail: Buffer): number | null {
  const field = method === 'eth_blockNumber' ? 'result' : method === 'eth_getBlockByNumber' ? 'number' : null;
  if (field === null) return null;
  const found = new RegExp(`"${field}"\\s*:\\s*"(0x[0-9a-fA-F]{1,13})"`).exec(tail.toString('latin1'));
  return found?.[1] === undefined ? null : Number(found[1]);
}
