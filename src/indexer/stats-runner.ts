import { messageOf } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import type { ThreadLog } from '../log/logger.ts';
import type { IndexStats, IndexStatsState } from '../model/index-stats.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';

/** Shortest time between two measurements, milliseconds. */
const MIN_AGE_MS = 60_000;

/** Largest fraction of time spent measuring, so that a large index is measured rarely. */
const MAX_SHARE = 0.01;

/** Measures the index at `path` in a thread of its own. Rejects when that fails, or when the signal aborts. */
export async function measureInThread(
  path: string,
  log: ThreadLog,
  signal: AbortSignal,
): Promise<IndexStats> {
  let stats: IndexStats | undefined;
  const thread = new ThreadHandle('index-stats', {
    data: () => path,
    restart: 'never',
    onMessage(message) {
      stats = message;
    },
    log,
  });
  const onAbort = () => void thread.stop(0);
  signal.addEventListener('abort', onAbort, { once: true });
  await thread.ended.finally(() => signal.removeEventListener('abort', onAbort));
  if (stats === undefined) throw new Error('the measurement was abandoned');
  return stats;
}

export class IndexStatsRunner {
  private readonly measure: (signal: AbortSignal) => Promise<IndexStats>;
  private readonly onFailure: (error: Error) => void;
  private readonly clock: () => number;
  private latest: IndexStats | null = null;
  /** When `latest` arrived, milliseconds of the clock. */
  private latestAt = 0;
  private failure: string | null = null;
  private failedAt: number | null = null;
  private readonly stop = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    measure: (signal: AbortSignal) => Promise<IndexStats>,
    onFailure: (error: Error) => void,
    clock: () => number = () => performance.now(),
  ) {
    this.measure = measure;
    this.onFailure = guarded('failure of the index stats', onFailure);
    this.clock = clock;
  }

  /** The latest index stats. Starts a new measurement in the background when they are old. */
  state(): IndexStatsState {
    if (this.running === null && this.isDue()) this.running = this.run();
    return { latest: this.latest, failure: this.failure };
  }

  /** Abandons a running measurement. */
  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private isDue(): boolean {
    const now = this.clock();
    if (this.failedAt !== null) return now - this.failedAt >= MIN_AGE_MS;
    if (this.latest === null) return true;
    return now - this.latestAt >= Math.max(MIN_AGE_MS, (this.latest.seconds * 1000) / MAX_SHARE);
  }

  private async run(): Promise<void> {
    try {
      this.latest = await this.measure(this.stop.signal);
      this.latestAt = this.clock();
      this.failure = null;
      this.failedAt = null;
    } catch (error) {
      if (!this.stop.signal.aborted) this.fail(error instanceof Error ? error : new Error(messageOf(error)));
    } finally {
      this.running = null;
    }
  }

  private fail(error: Error): void {
    this.failure = error.message;
    this.failedAt = this.clock();
    this.onFailure(error);
  }
}
