/** Failed reads of the index while it is served: what they mean for the client, the log and the status. */

import { codeOf, RequestError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { isCorruption, meaningOf, REBUILD_ADVICE } from '../store/storage-error.ts';

/** Shortest time between two log lines, milliseconds. A client can repeat a failing request at will. */
const LOG_INTERVAL_MS = 600_000;

/** How often a failed read is retried while clients read the status, milliseconds. */
const RECHECK_MS = 10_000;

/** How long the status shows a failed read that cannot be retried, milliseconds. */
const SHOW_UNCHECKED_MS = 120_000;

/** How long the status shows a transient disk failure, milliseconds. */
const SHOW_TRANSIENT_MS = 60_000;

/** Repeats a failed read, which shows whether the damage lasts. */
export type Recheck = () => unknown;

interface ReadFailuresOptions {
  log: Logger;
  metrics: Pick<Metrics, 'readFailures'>;
  /** Milliseconds of a monotonic clock. */
  clock?: () => number;
}

interface Shown {
  text: string;
  /** When the failure leaves the status, by the clock. */
  until: number;
}

/**
 * The failed reads of all readers of one index. SQLite also reports a page that the disk fails to deliver (EIO) as
 * corrupt, so "damaged" may pass: the first failed read is repeated from time to time, and the status shows the damage
 * until it succeeds.
 */
export class ReadFailures {
  private readonly log: Logger;
  private readonly metrics: ReadFailuresOptions['metrics'];
  private readonly clock: () => number;
  private damage: Shown | null = null;
  private transient: Shown | null = null;
  private recheck: Recheck | null = null;
  private nextRecheckAt = 0;
  private unlogged = 0;
  private nextLogAt = Number.NEGATIVE_INFINITY;

  constructor({ log, metrics, clock = () => performance.now() }: ReadFailuresOptions) {
    this.log = log;
    this.metrics = metrics;
    this.clock = clock;
  }

  /**
   * Records an error of a read. Returns the error for the client, or the same error if neither file nor disk is the
   * cause. `recheck` repeats the read and records its failure.
   */
  record(error: unknown, recheck: Recheck | null = null): unknown {
    if (!(error instanceof Error)) return error;
    const isDamage = isCorruption(error);
    const meaning = isDamage ? null : meaningOf(error);
    if (!isDamage && meaning === null) return error;
    const detail = `${error.message}, ${codeOf(error)}`;
    if (meaning !== null) {
      const text = `index.db cannot be read: ${meaning} (${detail}); look at the disk (dmesg)`;
      this.transient = { text, until: this.clock() + SHOW_TRANSIENT_MS };
      this.report('disk', text, error);
      return new RequestError(503, 'storage', 'the index cannot be read at present; try again later');
    }
    const text =
      `index.db is damaged or its disk fails (${detail}): requests that need the damaged pages ` +
      `fail, the rest is served; look at the disk (dmesg), stop atlas-node, ${REBUILD_ADVICE}`;
    if (this.damage === null) this.nextRecheckAt = this.clock() + RECHECK_MS;
    this.damage = { text, until: this.clock() + SHOW_UNCHECKED_MS };
    this.recheck ??= recheck;
    this.report('damage', text, error);
    return new RequestError(500, 'internal', 'this part of the index cannot be read');
  }

  /** The current failure with advice, or null. */
  current(): string | null {
    this.recheckIfDue();
    const now = this.clock();
    if (this.damage !== null && (this.recheck !== null || now < this.damage.until)) return this.damage.text;
    return this.transient !== null && now < this.transient.until ? this.transient.text : null;
  }

  private recheckIfDue(): void {
    if (this.recheck === null || this.clock() < this.nextRecheckAt) return;
    this.nextRecheckAt = this.clock() + RECHECK_MS;
    void this.runRecheck(this.recheck);
  }

  /** A read that fails again has recorded its failure. */
  private async runRecheck(recheck: Recheck): Promise<void> {
    try {
      await recheck();
    } catch {
      return;
    }
    this.damage = null;
    this.recheck = null;
    this.log.info({}, 'the unreadable part of the index is readable again');
  }

  private report(cause: 'damage' | 'disk', reason: string, err: Error): void {
    this.metrics.readFailures.inc({ cause });
    this.unlogged++;
    if (this.clock() < this.nextLogAt) return;
    this.nextLogAt = this.clock() + LOG_INTERVAL_MS;
    this.log.error({ reason, failures: this.unlogged, err }, 'the index cannot be read');
    this.unlogged = 0;
  }
}
