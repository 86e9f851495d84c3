/** The serving thread's handle on the indexer thread. */

import type { ThreadLog } from '../log/logger.ts';
import type { CommittingBlocks, Watermark } from '../model/block-batch.ts';
import type { IndexStatus } from '../model/index-status.ts';
import { DamageError } from '../store/storage-error.ts';
import { ThreadHandle } from '../threads/thread-handle.ts';
import { AskedWallets } from './asked-wallets.ts';
import type { FromIndexer, IndexerThreadOptions, MetricsDelta } from './protocol.ts';

export interface IndexerListeners {
  onCommitting(blocks: CommittingBlocks): void;
  onWatermark(watermark: Watermark): void;
  /** `at`: position of the node that the status describes. */
  onStatus(status: IndexStatus, delta: MetricsDelta, at: number): void;
  onUnreadable(damage: DamageError): void;
  log: ThreadLog;
}

/** Passes a message of the indexer on. */
export function notify(listeners: IndexerListeners, message: FromIndexer): void {
  switch (message.kind) {
    case 'committing':
      return listeners.onCommitting(message.blocks);
    case 'watermark':
      return listeners.onWatermark(message.watermark);
    case 'status':
      return listeners.onStatus(message.status, message.delta, message.at);
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
  private readonly thread: ThreadHandle<'indexer'>;
  private readonly asked = new AskedWallets();

  constructor(options: IndexerThreadOptions, listeners: IndexerListeners) {
    this.thread = new ThreadHandle('indexer', {
      data: () => options,
      restart: 'fatal',
      onMessage: (message) => notify(listeners, message),
      log: listeners.log,
    });
    this.ended = this.thread.ended;
  }

  /** Switches indexing to the node at this position. */
  selectNode(at: number): void {
    this.thread.post({ at });
  }

  /** Asks in the background whether these wallets are contracts. */
  examine(wallets: readonly number[]): void {
    const due = this.asked.add(wallets, performance.now());
    if (due.length > 0) this.thread.post({ examine: due });
  }

  /**
   * Tells the thread to close the index and exit. It abandons a commit in progress, whose blocks are indexed again
   * after the next start. Resolves when the thread has exited, at the latest after `limitMs`: what a terminated thread
   * was writing is rolled back by the next start.
   */
  async stop(limitMs?: number): Promise<void> {
    await this.thread.stop(limitMs);
    await this.ended;
  }
}
