/** Logging what a node announces that cannot be read. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';

/** Milliseconds between two lines: a node whose announcements have another form sends thousands a second. */
const LOG_MS = 60_000;

export class OddAnnouncements {
  private readonly log: Pick<Logger, 'warn'>;
  private readonly kind: string;
  private nextLine = Number.NEGATIVE_INFINITY;

  /** `kind` is what the node announces: a head, a log, ... */
  constructor(log: Pick<Logger, 'warn'>, kind: string) {
    this.log = log;
    this.kind = kind;
  }

  /** Logs why an announcement could not be read, now and then. Throws what is no UpstreamError. */
  report(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    const now = performance.now();
    if (now < this.nextLine) return;
    this.nextLine = now + LOG_MS;
    this.log.warn({ err: error }, `the node announced something that is no ${this.kind}`);
  }
}
