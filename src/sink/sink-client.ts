/** The serving thread's handle on the sink's thread, and the messages between the two. */
import type { ThreadLog } from '../log/logger.ts';
import { initialSinkStatus, type SinkStatus } from '../model/sink-status.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';

export interface SinkOptions {
  indexPath: string;
  url: string;
  schema: string;
  fromBlock: number | 'earliest';
  finality: 'latest' | 'finalized';
  /** `index.max_reorg`. */
  maxReorg: number;
  wallets: boolean;
  partitionBlocks: number;
  /** The lists of `[trades]`. */
  tradeLists: ConfiguredTradeLists;
}

/** The index has committed or rolled back; `committedAt` is in Unix milliseconds, null for a rollback. */
export interface ToSink {
  committedAt: number | null;
}

/** The sink's work since its last report, for the metrics. */
export interface SinkDelta {
  transfers: number;
  /** Seconds from each commit to the index until its blocks are in PostgreSQL. */
  delays: number[];
  errors: number;
  rollbacks: number;
}

export interface FromSink {
  status: SinkStatus;
  delta: SinkDelta;
}

interface SinkListeners {
  onStatus(status: SinkStatus, delta: SinkDelta): void;
  log: ThreadLog;
}

/** Delay before a failed thread is started again, milliseconds. */
const RESTART_MS = 5_000;

export class SinkClient {
  private readonly thread: ThreadHandle<'sink'>;
  /** The last reported status. */
  status: SinkStatus;

  constructor(options: SinkOptions, { onStatus, log }: SinkListeners) {
    this.status = initialSinkStatus(options.schema, options.finality);
    this.thread = new ThreadHandle('sink', {
      data: () => options,
      restart: { firstMs: RESTART_MS, longestMs: RESTART_MS },
      onMessage: ({ status, delta }) => {
        this.status = status;
        onStatus(status, delta);
      },
      onFailure: (error) => {
        this.status = { ...this.status, state: 'connecting', reason: 'the sink failed: see the log' };
        log.error({ reason: error.message }, 'the PostgreSQL sink failed; restarting');
      },
      log,
    });
  }

  /** Tells the sink that the index has changed. `committedAt` in Unix milliseconds, null for a rollback. */
  wake(committedAt: number | null): void {
    this.thread.post({ committedAt });
  }

  /** Resolves when the thread has ended, at the latest after `limitMs`. The next start writes the rest. */
  stop(limitMs?: number): Promise<void> {
    return this.thread.stop(limitMs);
  }
}
