/** Recording how far the index is final by the word of the node: what is, no reorg may take off again. */
import { StorageError, UpstreamError } from '../lib/errors.ts';
import { readBlockHeader } from '../node/block-header.ts';
import type { RpcClient } from '../node/client.ts';
import { headerCall } from '../node/methods.ts';
import type { IndexWriter } from '../store/index-writer.ts';

/** Milliseconds between two looks at the node's finalized block. */
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

  /** Looks now and then, beside the indexing: a node that does not answer holds nothing up. */
  pollIfDue(): void {
    if (performance.now() < this.nextPollAt || this.signal.aborted || this.store.head() === null) return;
    this.nextPollAt = Number.POSITIVE_INFINITY;
    this.poll()
      .catch((error: unknown) => {
        // A node without a finalized block, or a full disk: the next look may find more.
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
    // One batch, so that one node answers where a load balancer stands before several.
    const calls = [headerCall('finalized'), headerCall(head.number)];
    const isOneAnswer = this.client.batchSize >= calls.length;
    const [finalized, atHead] = (await this.client.batch(calls, this.signal)).map((reply) => {
      if ('error' in reply) throw reply.error;
      return reply.result === null ? null : readBlockHeader(reply.result, 'eth_getBlockByNumber');
    });
    if (this.signal.aborted || !finalized) return;
    if (this.store.hashAt(finalized.number) === finalized.hash) this.record(finalized.number);
    else if (isOneAnswer && finalized.number > head.number && atHead?.hash === head.hash)
      this.record(head.number);
  }

  private record(number: number): void {
    if (number > (this.store.anchors().finalized ?? -1)) this.store.setFinalized(number);
  }
}
