/**
 * Finds out which indexed blocks are final, and records the anchor of the index: the highest one that the node proves
 * final, below which no reorg may go. Where nothing is proved there is no anchor, and the depth decides.
 */
import { StorageError, UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import {
  afterTagPoll,
  type ChainFinality,
  explainRule,
  type FinalityPoll,
  finalInIndex,
  finalOfIndex,
  isFinal,
  isProved,
  UNPROVED,
} from '../model/finality.ts';
import type { RpcClient } from '../node/client.ts';
import { pollFinality } from '../node/finality-poll.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import type { Progress } from './progress.ts';

/** Interval between polls of the node, milliseconds; while a proof is sought, shorter. */
const POLL_MS = 5_000;
const PROOF_POLL_MS = 1_000;

interface AnchorWatchDeps {
  store: IndexWriter;
  client: RpcClient;
  progress: Pick<Progress, 'setFinality'>;
  finality: ChainFinality;
  /** `index.max_reorg`. */
  maxReorg: number;
}

export class AnchorWatch {
  private readonly deps: AnchorWatchDeps;
  private readonly signal: AbortSignal;
  private proof = UNPROVED;
  private lastPoll: FinalityPoll | null = null;
  private nextPollAt = 0;

  constructor(deps: AnchorWatchDeps, signal: AbortSignal) {
    this.deps = deps;
    this.signal = signal;
  }

  /** Whether the node distinguishes its final block from its latest one. */
  get isTagProved(): boolean {
    return isProved(this.proof);
  }

  /**
   * Removes the anchor where the depth decides: it is of another rule, or of a release that took every tag for proof.
   * Throws StorageError.
   */
  begin(): void {
    const { store, finality } = this.deps;
    if (finality.rule === 'depth' && store.anchors().finalized !== null) store.setFinalized(null);
    this.report();
  }

  /** Polls the node if it is due. Runs in the background, so that a slow node does not delay indexing. */
  pollIfDue(): void {
    const head = this.deps.store.head();
    if (performance.now() < this.nextPollAt || this.signal.aborted || head === null) return;
    this.nextPollAt = Number.POSITIVE_INFINITY;
    this.poll(head)
      .catch((error: unknown) => {
        // The node does not answer, or the disk is full: try again at the next interval.
        if (!this.signal.aborted && !(error instanceof UpstreamError || error instanceof StorageError))
          throw error;
      })
      .finally(() => {
        const isSought = this.deps.finality.rule === 'tag' && !this.isTagProved;
        this.nextPollAt = performance.now() + (isSought ? PROOF_POLL_MS : POLL_MS);
      });
  }

  private async poll(head: BlockRef): Promise<void> {
    const final = await this.finalNow(head);
    if (this.signal.aborted) return;
    const { store } = this.deps;
    if (final !== null && !isFinal(final, store.anchors().finalized)) store.setFinalized(final);
    this.report();
  }

  /** The highest indexed block that is proved final now, null for none. */
  private async finalNow(head: BlockRef): Promise<number | null> {
    const { store, client, finality } = this.deps;
    const { rule } = finality;
    if (rule === 'depth') return null;
    if (rule === 'instant') return head.number;
    const poll = await pollFinality(client, rule, [head.number], this.signal);
    this.lastPoll = poll;
    this.proof = afterTagPoll(this.proof, poll);
    return this.isTagProved ? finalInIndex(poll, head, (number) => store.hashAt(number)) : null;
  }

  private report(): void {
    const { store, progress, finality, maxReorg } = this.deps;
    const head = store.head();
    const anchor = store.anchors().finalized;
    const block = head && finalOfIndex({ anchor, head: head.number, maxReorg });
    progress.setFinality({ ...explainRule(finality, this.proof, this.lastPoll), block });
  }
}
