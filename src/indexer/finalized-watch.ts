/** Records which indexed blocks the node calls finalized: no reorg may remove them. */
import { StorageError, UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import type { RpcClient } from '../node/client.ts';
import { headerCall, readBlockHeader } from '../node/methods.ts';
import type { IndexWriter } from '../store/index-writer.ts';

/** Interval between reads of the node's finalized block, milliseconds. */
const POLL_MS = 5_000;

export class FinalizedWatch {
  private readonly store: IndexWriter;
  private readonly client: RpcClient;
  private readonly signal: AbortSignal;
  private nextPollAt = 0;

  constructor(store: IndexWriter, client: RpcClient, signal: AbortSignal) {
    this.store = store;
    this.client = client;
    this.signal = signal;
  }

  /** Reads the finalized block if it is due. Runs in the background, so that a slow node does not delay indexing. */
  pollIfDue(): void {
    if (performance.now() < this.nextPollAt || this.signal.aborted || this.store.head() === null) return;
    this.nextPollAt = Number.POSITIVE_INFINITY;
    this.poll()
      .catch((error: unknown) => {
        // The node has no finalized block, or the disk is full: try again at the next interval.
        if (!this.signal.aborted && !(error instanceof UpstreamError || error instanceof StorageError))
          throw error;
      })
      .finally(() => {
        this.nextPollAt = performance.now() + POLL_MS;
      });
  }

  private async poll(): Promise<void> {
    const head = this.store.head();
    if (head === null) return;
    // One batch, so that a load balancer sends it to one node.
    const calls = [headerCall('finalized'), headerCall(head.number)];
    const isOneAnswer = this.client.batchSize >= calls.length;
    const [finalized, atHead] = (await this.client.batch(calls, this.signal)).map((reply) => {
      if ('error' in reply) throw reply.error;
      return reply.result === null ? null : readBlockHeader(reply.result, 'eth_getBlockByNumber');
    });
    if (this.signal.aborted || !finalized) return;
    if (this.has(finalized)) this.record(finalized.number);
    else if (isOneAnswer && finalized.number > head.number && atHead?.hash === head.hash && this.has(head))
      this.record(head.number);
  }

  /** Whether the index still has a block: a reorg may have removed it while the node answered. */
  private has({ number, hash }: BlockRef): boolean {
    return this.store.hashAt(number) === hash;
  }

  private record(number: number): void {
    if (number > (this.store.anchors().finalized ?? -1)) this.store.setFinalized(number);
  }
}
