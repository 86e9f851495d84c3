/** Polls the node for its final block, and notices when the node is on another chain. All times are from performance.now(). */
import type { BlockRef } from '../model/block.ts';
import {
  afterFailure,
  afterPoll,
  anchorOf,
  type FinalityPoll,
  finalNow,
  isAnchorRemoved,
  isFinal,
  type NodeFinality,
} from '../model/finality.ts';

/** Asks the node for its final block, and for a block that it must still have. Rejects with UpstreamError. */
type PollNode = (known: BlockRef | null) => Promise<FinalityPoll>;

/** Milliseconds between polls while a block's finality is awaited, and after a poll without a result. */
const POLL_MS = 200;
const RETRY_MS = 5_000;

export class FinalityWatch {
  private readonly pollNode: PollNode;
  private readonly listeners: (() => void)[] = [];
  private state: NodeFinality = { kind: 'unknown' };
  private nextPollAt = 0;
  private isPolling = false;

  constructor(pollNode: PollNode) {
    this.pollNode = pollNode;
  }

  /** Calls the listener when the node turns out to be on another chain than before. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The highest block known to be final, or -1. */
  finalizedNumber(now: number): number {
    const { block, isDue } = finalNow(this.state, now);
    if (isDue) this.poll(now);
    return block;
  }

  /** A call could be cached if this block were final: check whether it now is. */
  pollIfAbove(block: number, now: number): void {
    if (!isFinal(block, anchorOf(this.state)?.number ?? null)) this.poll(now);
  }

  /** The node failed: nothing counts as final until the next poll. Ignores a poll in flight. */
  invalidate(): void {
    this.state = afterFailure(this.state);
  }

  /** The index was rolled back: the blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    if (isAnchorRemoved(this.state, to)) this.reset();
  }

  /** The chain was rewritten. */
  reset(): void {
    this.state = { kind: 'unknown' };
    for (const listener of this.listeners) listener();
  }

  private poll(now: number): void {
    if (this.isPolling || now < this.nextPollAt) return;
    this.isPolling = true;
    this.nextPollAt = now + POLL_MS;
    this.refresh(now)
      .catch(() => {
        // Nothing learnt: what was confirmed stays trusted for its time.
        this.nextPollAt = now + RETRY_MS;
      })
      .finally(() => {
        this.isPolling = false;
      });
  }

  private async refresh(now: number): Promise<void> {
    const { state } = this;
    const poll = await this.pollNode(anchorOf(state));
    // The answers may concern another node or chain than the current state.
    if (state !== this.state) return;
    const next = afterPoll(state, poll, now);
    if (next === 'replaced') this.reset();
    else if (next === 'none') this.nextPollAt = now + RETRY_MS;
    else if (next !== 'unclear') this.state = next;
  }
}
