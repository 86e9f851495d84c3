/** The serving thread's handle on the sink's thread, and the messages between the two. */
import { initialSinkStatus, type SinkStatus } from '../model/sink-status.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';

export interface SinkOptions {
  indexPath: string;
  url: string;
  schema: string;
  fromBlock: number | 'earliest';
  finality: 'latest' | 'finalized';
  wallets: boolean;
  partitionBlocks: number;
}

export type ToSink =
  /** The index has committed or rolled back; `committedAt` is in Unix milliseconds, null for a rollback. */
  { kind: 'wake'; committedAt: number | null } | { kind: 'stop' };

/** The sink's work since its last report, for the metrics. */
export interface SinkDelta {
  transfers: number;
  /** Seconds from each commit to the index until its blocks are in PostgreSQL. */
  delays: number[];
  errors: number;
  rollbacks: number;
}

export type FromSink =
  | { kind: 'status'; status: SinkStatus; delta: SinkDelta }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; msg: string; fields: Record<string, unknown> };

interface SinkListeners {
  onStatus(status: SinkStatus, delta: SinkDelta): void;
  onLog(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>, msg: string): void;
}

export class SinkClient {
  private readonly thread: ThreadHandle<ToSink, FromSink>;
  /** The last reported status. */
  status: SinkStatus;

  constructor(options: SinkOptions, listeners: SinkListeners) {
    this.status = initialSinkStatus(options.schema, options.finality);
    this.thread = new ThreadHandle('sink', {
      workerData: options,
      stop: { kind: 'stop' },
      onMessage: (message) => {
        if (message.kind === 'log') return listeners.onLog(message.level, message.fields, message.msg);
        this.status = message.status;
        listeners.onStatus(message.status, message.delta);
      },
      onFailure: (error) => {
        this.status = { ...this.status, state: 'connecting', reason: 'the sink failed: see the log' };
        listeners.onLog('error', { reason: error.message }, 'the PostgreSQL sink failed; restarting');
      },
    });
  }

  /** Tells the sink that the index has changed. `committedAt` in Unix milliseconds, null for a rollback. */
  wake(committedAt: number | null): void {
    this.thread.post({ kind: 'wake', committedAt });
  }

  /** Resolves when the thread has ended, at the latest after `limitMs`. The next start writes the rest. */
  stop(limitMs?: number): Promise<void> {
    return this.thread.stop(limitMs);
  }
}
