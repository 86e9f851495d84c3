/** Runs checkpoints on another core, in parallel with the indexer thread. Only the next large commit waits for them. */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../threads/start-thread.ts';
import type { FromCheckpointer, ToCheckpointer } from './protocol.ts';

/** Below this size the WAL is cheap to keep, and one later checkpoint serves many blocks. */
const MIN_WAL_BYTES = 8 * 2 ** 20;

export class CheckpointClient {
  private readonly thread: Worker;
  private readonly ended: Promise<unknown>;
  private running: PromiseWithResolvers<void> | null = null;
  private failure: Error | null = null;

  constructor(indexPath: string) {
    this.thread = startThread('checkpoint', indexPath);
    this.ended = new Promise((resolve) => this.thread.once('exit', resolve));
    this.thread.on('message', (_checkpointed: FromCheckpointer) => this.running?.resolve());
    this.thread.on('error', (error) => {
      this.failure = error; // the thread is gone: fail the next call even if no checkpoint is running
      this.running?.resolve();
    });
  }

  /** Call after each commit, while no checkpoint runs; `walBytes` is the WAL's size after that commit. */
  checkpointIfLarge(walBytes: number): void {
    if (walBytes < MIN_WAL_BYTES || this.failure !== null) return;
    this.running = Promise.withResolvers();
    this.thread.postMessage('checkpoint' satisfies ToCheckpointer);
  }

  /** Resolves when no checkpoint runs. Rejects when the thread has failed, which is a bug. */
  async whenIdle(): Promise<void> {
    await this.running?.promise;
    if (this.failure !== null) throw this.failure;
  }

  /** Ends the thread after its current checkpoint. */
  async close(): Promise<void> {
    this.thread.postMessage('stop' satisfies ToCheckpointer);
    await this.ended;
  }
}
