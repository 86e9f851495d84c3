/** Checkpoints of the index beside the writer: on another core, and waited for by nobody but the next large commit. */
import type { Worker } from 'node:worker_threads';
import type { FromCheckpointer, ToCheckpointer } from './protocol.ts';
import { startThread } from './threads.ts';

/** A log of this many bytes is moved. Smaller ones are cheap to keep, and one checkpoint then serves many blocks. */
const WORTH_MOVING_BYTES = 8 * 2 ** 20;

export class Checkpoints {
  private readonly thread: Worker;
  private readonly ended: Promise<unknown>;
  private underWay: PromiseWithResolvers<void> | null = null;
  private failure: Error | null = null;

  constructor(indexPath: string) {
    this.thread = startThread('checkpoint', indexPath);
    this.ended = new Promise((resolve) => this.thread.once('exit', resolve));
    this.thread.on('message', (_moved: FromCheckpointer) => this.underWay?.resolve());
    this.thread.on('error', (error) => {
      this.failure = error; // it may come while none is under way: nothing is asked of a thread that is gone
      this.underWay?.resolve();
    });
  }

  /** To be called after a commit that left so many bytes in the log, when none is under way. */
  begin(logBytes: number): void {
    if (logBytes < WORTH_MOVING_BYTES || this.failure !== null) return;
    this.underWay = Promise.withResolvers();
    this.thread.postMessage('move' satisfies ToCheckpointer);
  }

  /** Resolves when none is under way. Rejects when the thread has failed, which is a defect. */
  async idle(): Promise<void> {
    await this.underWay?.promise;
    if (this.failure !== null) throw this.failure;
  }

  /** Ends the thread when it has done what it was asked to. */
  async close(): Promise<void> {
    this.thread.postMessage('stop' satisfies ToCheckpointer);
    await this.ended;
  }
}
