/** Logs malformed notifications of the node. */
import { UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';

/**
 * Shortest time between two lines, milliseconds: a node with an unexpected format sends thousands of notifications per
 * second.
 */
const LOG_MS = 60_000;

export class MalformedNotifications {
  private readonly log: Pick<Logger, 'warn'>;
  private readonly kind: string;
  private nextLine = Number.NEGATIVE_INFINITY;

  /** `kind` of notification: head, log, transaction. */
  constructor(log: Pick<Logger, 'warn'>, kind: string) {
    this.log = log;
    this.kind = kind;
  }

  /** Logs why a notification is malformed, at most once a minute. Rethrows anything but an UpstreamError. */
  report(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    const now = performance.now();
    if (now < this.nextLine) return;
    this.nextLine = now + LOG_MS;
    this.log.warn({ err: error }, `the node sent a malformed ${this.kind} notification`);
  }
}
