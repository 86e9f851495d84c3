/** Records the anchor of the index, its highest block that the node shows to be final: no reorg may go below it. */
import { StorageError, UpstreamError } from '../lib/errors.ts';
import { finalInIndex, isFinal } from '../model/finality.ts';
import type { RpcClient } from '../node/client.ts';
import { pollFinality } from '../node/finality-poll.ts';
import type { IndexWriter } from '../store/index-writer.ts';

/** Interval between polls of the node, milliseconds. */
const POLL_MS = 5_000;

export class AnchorWatch {
  private readonly store: IndexWriter;
  private readonly client: RpcClient;
  private readonly signal: AbortSignal;
  private nextPollAt = 0;

  constructor(store: IndexWriter, client: RpcClient, signal: AbortSignal) {
    this.store = store;
    this.client = client;
    this.signal = signal;
  }

  /** Polls the node if it is due. Runs in the background, so that a slow node does not delay indexing. */
  pollIfDue(): void {
    if (performance.now() < this.nextPollAt || this.signal.aborted || this.store.head() === null) return;
    this.nextPollAt = Number.POSITIVE_INFINITY;
    this.poll()
      .catch((error: unknown) => {
        // The node knows no final block, or the disk is full: try again at the next interval.
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
    const poll = await pollFinality(this.client, head, this.signal);
    if (this.signal.aborted) return;
    const final = finalInIndex(poll, head, (number) => this.store.hashAt(number));
    if (final !== null && !isFinal(final, this.store.anchors().finalized)) this.store.setFinalized(final);
  }
}
