import { guarded } from '../lib/guard.ts';
import type { IndexStats, IndexStatsState } from '../model/index-stats.ts';

/** The subset of Worker that IndexStatsRunner uses. */
interface IndexStatsThread {
  on(event: 'message', listener: (stats: IndexStats) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

/** Shortest time between two measurements, milliseconds. */
const MIN_AGE_MS = 60_000;

/** Largest fraction of time spent measuring, so that a large index is measured rarely. */
const MAX_SHARE = 0.01;

export class IndexStatsRunner {
  private readonly startThread: () => IndexStatsThread;
  private readonly onFailure: (error: Error) => void;
  private readonly clock: () => number;
  private latest: IndexStats | null = null;
  /** When `latest` arrived, milliseconds of the clock. */
  private latestAt = 0;
  private failure: string | null = null;
  private failedAt: number | null = null;
  private thread: IndexStatsThread | null = null;

  /** `startThread` starts a thread that measures once, posts the result and exits. */
  constructor(
    startThread: () => IndexStatsThread,
    onFailure: (error: Error) => void,
    clock: () => number = () => performance.now(),
  ) {
    this.startThread = startThread;
    this.onFailure = onFailure;
    this.clock = clock;
  }

  /** The latest index stats. Starts a new measurement in the background when they are old. */
  state(): IndexStatsState {
    if (this.thread === null && this.isDue()) this.startMeasurement();
    return { latest: this.latest, failure: this.failure };
  }

  /** Ends a running measurement. */
  async close(): Promise<void> {
    await this.thread?.terminate();
  }

  private isDue(): boolean {
    const now = this.clock();
    if (this.failedAt !== null) return now - this.failedAt >= MIN_AGE_MS;
    if (this.latest === null) return true;
    return now - this.latestAt >= Math.max(MIN_AGE_MS, (this.latest.seconds * 1000) / MAX_SHARE);
  }

  private startMeasurement(): void {
    const thread = this.startThread();
    this.thread = thread;
    thread.on('message', (stats) => {
      this.latest = stats;
      this.latestAt = this.clock();
      this.failure = null;
      this.failedAt = null;
    });
    const onError = guarded('thread of the index stats', (error: Error) => {
      this.failure = error.message;
      this.failedAt = this.clock();
      this.onFailure(error);
    });
    thread.on('error', onError);
    thread.on('exit', () => {
      this.thread = null;
    });
  }
}
