/**
 * Checkpoints a WAL in a thread, because a checkpoint waits for the disk: the indexer prepares its next commit
 * meanwhile, and the serving thread answers. The thread starts with the first checkpoint and ends when there is none
 * for a while.
 */
import type { ThreadLog } from '../log/logger.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';

/** What the thread starts with. */
export interface CheckpointOptions {
  path: string;
  /** Whether the thread also empties the WAL, because no writer does. */
  emptiesWal: boolean;
}

interface ClientOptions {
  /** A smaller WAL is left alone. */
  minWalBytes: number;
  emptiesWal?: boolean;
  log: ThreadLog;
  /** Idle time before the thread ends, milliseconds. */
  idleMs?: number;
}

const IDLE_MS = 10_000;

export class CheckpointClient {
  private readonly thread: CheckpointOptions;
  private readonly options: ClientOptions;
  private handle: ThreadHandle<'checkpoint'> | null = null;
  private running: PromiseWithResolvers<void> | null = null;
  private idleTimer: NodeJS.Timeout | undefined;
  /** A thread that ends because it was idle. */
  private leaving: ThreadHandle<'checkpoint'> | null = null;

  constructor(path: string, options: ClientOptions) {
    this.thread = { path, emptiesWal: options.emptiesWal ?? false };
    this.options = options;
  }

  /** Whether a thread runs. */
  get isStarted(): boolean {
    return this.handle !== null;
  }

  /**
   * Starts a checkpoint of a WAL of this size. Call it while none runs. Throws FatalError when the system refuses
   * another thread.
   */
  checkpointIfLarge(walBytes: number): void {
    if (walBytes < this.options.minWalBytes) return;
    clearTimeout(this.idleTimer);
    this.handle ??= this.start();
    this.running = Promise.withResolvers();
    this.running.promise.catch(() => undefined); // not unhandled: `whenIdle` may be called later
    this.handle.post('checkpoint');
  }

  /** Resolves when no checkpoint runs. Rejects when the last one has failed. */
  async whenIdle(): Promise<void> {
    await this.running?.promise;
  }

  /** Ends the thread after its current checkpoint, at the latest after `limitMs`. */
  async close(limitMs?: number): Promise<void> {
    clearTimeout(this.idleTimer);
    await Promise.all([this.handle?.stop(limitMs), this.leaving?.stop(limitMs)]);
  }

  private start(): ThreadHandle<'checkpoint'> {
    const handle = new ThreadHandle('checkpoint', {
      data: () => this.thread,
      restart: 'never',
      onMessage: () => this.finish(),
      log: this.options.log,
    });
    handle.ended.then(
      () => this.release(handle, new Error('the checkpoint was abandoned')),
      (error: Error) => this.release(handle, error),
    );
    return handle;
  }

  private finish(): void {
    this.running?.resolve();
    this.idleTimer = setTimeout(() => {
      this.leaving = this.handle;
      this.handle = null;
      void this.leaving?.stop();
    }, this.options.idleMs ?? IDLE_MS).unref();
  }

  /** Fails the checkpoint of a thread that has ended. The next one gets another thread. */
  private release(handle: ThreadHandle<'checkpoint'>, error: Error): void {
    if (this.handle !== handle) return;
    this.handle = null;
    this.running?.reject(error);
  }
}
