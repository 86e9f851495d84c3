/** The serving thread's handle on the sink's thread, and the messages between the two. */
import type { Worker } from 'node:worker_threads';
import { initialSinkStatus, type SinkStatus } from '../model/sink-status.ts';
import { startThread } from '../threads/start-thread.ts';

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

/** Delay before a failed thread is restarted, milliseconds. */
const RESTART_MS = 5_000;

interface SinkListeners {
  onStatus(status: SinkStatus, delta: SinkDelta): void;
  onLog(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>, msg: string): void;
}

export class SinkClient {
  private readonly options: SinkOptions;
  private readonly listeners: SinkListeners;
  private thread: Worker | null = null;
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;
  /** The last reported status. */
  status: SinkStatus;

  constructor(options: SinkOptions, listeners: SinkListeners) {
    this.options = options;
    this.listeners = listeners;
    this.status = initialSinkStatus(options.schema, options.finality);
    this.start();
  }

  /** Tells the sink that the index has changed. `committedAt` in Unix milliseconds, null for a rollback. */
  wake(committedAt: number | null): void {
    this.thread?.postMessage({ kind: 'wake', committedAt } satisfies ToSink);
  }

  /** Resolves when the thread has ended. The next start writes whatever it had not committed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const { thread } = this;
    if (thread === null) return;
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage({ kind: 'stop' } satisfies ToSink);
    await ended;
  }

  private start(): void {
    const thread = startThread('sink', this.options);
    this.thread = thread;
    thread.on('message', (message: FromSink) => {
      if (message.kind === 'log') return this.listeners.onLog(message.level, message.fields, message.msg);
      this.status = message.status;
      this.listeners.onStatus(message.status, message.delta);
    });
    thread.on('error', (error) => {
      this.status = { ...this.status, state: 'connecting', reason: 'the sink failed: see the log' };
      this.listeners.onLog('error', { reason: error.message }, 'the PostgreSQL sink failed; restarting');
    });
    thread.on('exit', () => {
      this.thread = null;
      if (!this.isStopping) this.restart = setTimeout(() => this.start(), RESTART_MS);
    });
  }
}
