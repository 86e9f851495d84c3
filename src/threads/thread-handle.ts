/** The handle on a thread that runs as long as the daemon: started again after a failure, stopped within a time limit. */
import type { Worker } from 'node:worker_threads';
import { guarded } from '../lib/guard.ts';
import { endThread } from './end-thread.ts';
import type { ThreadName } from './entries.ts';
import { startThread } from './start-thread.ts';

/** Delay before a failed thread is started again, milliseconds. */
const RESTART_MS = 5_000;

interface ThreadOptions<To, From> {
  workerData: unknown;
  /** Tells the thread to end by itself. */
  stop: To;
  onMessage(message: From): void;
  /** The thread failed. It is started again. */
  onFailure(error: Error): void;
  onExit?(): void;
}

export class ThreadHandle<To, From> {
  private readonly name: ThreadName;
  private readonly options: ThreadOptions<To, From>;
  private thread: Worker | null = null;
  private restart: NodeJS.Timeout | undefined;
  private stopping: Promise<void> | undefined;
  private mayRestart = true;

  constructor(name: ThreadName, options: ThreadOptions<To, From>) {
    this.name = name;
    this.options = options;
    this.start();
  }

  get isRunning(): boolean {
    return this.thread !== null;
  }

  /** Drops the message while the thread is not running. */
  post(message: To): void {
    this.thread?.postMessage(message);
  }

  /** Lets the thread end without a successor. */
  dismiss(): void {
    this.mayRestart = false;
    clearTimeout(this.restart);
  }

  /** Resolves when the thread has ended; terminates it after `limitMs`. Later calls wait for the first one. */
  stop(limitMs?: number): Promise<void> {
    this.dismiss();
    this.stopping ??= this.end(limitMs);
    return this.stopping;
  }

  private async end(limitMs: number | undefined): Promise<void> {
    const { thread } = this;
    if (thread === null) return;
    this.post(this.options.stop);
    await endThread(thread, limitMs);
  }

  private start(): void {
    const { workerData, onMessage, onFailure, onExit } = this.options;
    const thread = startThread(this.name, workerData);
    this.thread = thread;
    thread.on('message', guarded(`message of the ${this.name} thread`, onMessage));
    thread.on('error', guarded(`failure of the ${this.name} thread`, onFailure));
    thread.on('exit', () => {
      this.thread = null;
      if (onExit !== undefined) guarded(`end of the ${this.name} thread`, onExit)();
      this.startLater();
    });
  }

  /** Until it succeeds: the system may refuse a thread. */
  private startLater(): void {
    if (!this.mayRestart) return;
    const start = guarded(
      `start of the ${this.name} thread`,
      () => this.start(),
      () => this.startLater(),
    );
    this.restart = setTimeout(start, RESTART_MS);
  }
}
