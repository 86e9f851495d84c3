/** Checkpoints of the index beside the writer: on another core, and waited for by nobody but the next large commit. */
import type { Worker } from 'node:worker_threads';
import type { FromCheckpointer, ToCheckpointer } from './protocol.ts';
import { startThread } from './worker.ts';

/** A log of this many bytes is moved. Smaller ones are cheap to keep, and one checkpoint then serves many blocks. */
const WORTH_MOVING_BYTES = 8 * 2 ** 20;

export class Checkpoints {
  private readonly thread: Worker;
  private readonly ended: Promise<unknown>;
  private underWay: PromiseWithResolvers<void> | null = null;

  constructor(indexPath: string) {
    this.thread = startThread('checkpoint', indexPath);
    this.ended = new Promise((resolve) => this.thread.once('exit', resolve));
    this.thread.on('message', (_moved: FromCheckpointer) => this.settle(null));
    this.thread.on('error', (error) => this.settle(error));
  }

  /** To be called after a commit that left so many bytes in the log, when none is under way. */
  begin(logBytes: number): void {
    if (logBytes < WORTH_MOVING_BYTES) return;
    this.underWay = Promise.withResolvers();
    this.underWay.promise.catch(() => undefined); // `idle` tells
    this.thread.postMessage('move' satisfies ToCheckpointer);
  }

  /** Resolves when none is under way. Rejects when the thread failed, which is a defect. */
  async idle(): Promise<void> {
    await this.underWay?.promise;
  }

  /** Ends the thread when it has done what it was asked to. */
  async close(): Promise<void> {
    this.thread.postMessage('stop' satisfies ToCheckpointer);
    await this.ended;
  }

  private settle(error: Error | null): void {
    if (error === null) this.underWay?.resolve();
    else this.underWay?.reject(error);
  }
}
