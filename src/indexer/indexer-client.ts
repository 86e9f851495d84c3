/** The serving thread's handle on the indexer thread. */

import type { Worker } from 'node:worker_threads';
import { FatalError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import type { CommittingBlocks, Watermark } from '../model/block-batch.ts';
import type { IndexStatus } from '../model/index-status.ts';
import { DamageError } from '../store/storage-error.ts';
import { startThread } from '../threads/start-thread.ts';
import type {
  FromIndexer,
  IndexerThreadData,
  IndexerThreadOptions,
  MetricsDelta,
  ToIndexer,
} from './protocol.ts';

export interface IndexerListeners {
  onCommitting(blocks: CommittingBlocks): void;
  onWatermark(watermark: Watermark): void;
  /** `at`: position of the node that the status describes. */
  onStatus(status: IndexStatus, delta: MetricsDelta, at: number): void;
  onUnreadable(damage: DamageError): void;
  onLog(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>, msg: string): void;
}

/** Passes a message of the indexer on. The two others end its thread. */
export function notify(listeners: IndexerListeners, message: FromIndexer): void {
  switch (message.kind) {
    case 'committing':
      return listeners.onCommitting(message.blocks);
    case 'watermark':
      return listeners.onWatermark(message.watermark);
    case 'status':
      return listeners.onStatus(message.status, message.delta, message.at);
    case 'log':
      return listeners.onLog(message.level, message.fields, message.msg);
    case 'unreadable':
      return listeners.onUnreadable(new DamageError(message.message));
  }
}

export class IndexerClient {
  /**
   * Resolves when the thread has closed the index after `stop`; rejects with FatalError when the thread could not
   * continue.
   */
  readonly ended: Promise<void>;
  private readonly thread: Worker;
  private readonly stopFlag = new Int32Array(new SharedArrayBuffer(4));

  constructor(options: IndexerThreadOptions, listeners: IndexerListeners) {
    this.thread = startThread('indexer', { ...options, stopFlag: this.stopFlag } satisfies IndexerThreadData);
    this.ended = new Promise((resolve, reject) => {
      const onMessage = guarded('message of the indexer', (message: FromIndexer) => {
        if (message.kind === 'fatal') reject(new FatalError(message.message));
        else if (message.kind === 'stopped') resolve();
        else notify(listeners, message);
      });
      this.thread.on('message', onMessage);
      this.thread.on('error', (error) =>
        reject(new FatalError(`the indexer thread failed: ${error.message}`, { cause: error })),
      );
      this.thread.on('exit', (code) => reject(new FatalError(`the indexer thread exited with code ${code}`)));
    });
    this.ended.catch(() => undefined); // not unhandled: the owner of this client awaits `ended` later
  }

  /** Switches indexing to the node at this position. */
  selectNode(at: number): void {
    this.thread.postMessage({ kind: 'node', at } satisfies ToIndexer);
  }

  /**
   * Tells the thread to close the index and exit. It abandons a commit in progress, whose blocks are indexed again after
   * the next start. Resolves when the thread has exited.
   */
  async stop(): Promise<void> {
    Atomics.store(this.stopFlag, 0, 1);
    this.thread.postMessage({ kind: 'stop' } satisfies ToIndexer);
    await this.ended;
  }
}
