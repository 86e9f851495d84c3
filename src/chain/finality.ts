/** Which block is known to be final, and whether the node is still on the same chain. */
import type { BlockRef } from '../model/block.ts';

/** Fetches the block of a tag or height; null when the node does not have it now. Rejects with UpstreamError. */
type FetchBlock = (id: number | 'finalized') => Promise<BlockRef | null>;

/** How long after a check the node is trusted to be on the same chain, ms. A test chain may be replaced at any time. */
const TRUST_MS = 10_000;
/** Milliseconds between checks while a block's finality is awaited, and after a check that found or learnt nothing. */
const POLL_MS = 200;
const RETRY_MS = 5_000;

/** What is known of the node's chain; replaced by another object with every event. */
type State =
  /** No block is known to be final. */
  | { kind: 'unknown' }
  /** The node confirmed the anchor, the highest block known to be final, at that time. */
  | { kind: 'confirmed'; anchor: BlockRef; at: number }
  /** The node failed since it confirmed the anchor, and may be another one when it is back. */
  | { kind: 'unconfirmed'; anchor: BlockRef };

/** Times are those of performance.now(). */
export class Finality {
  private readonly fetch: FetchBlock;
  private readonly listeners: (() => void)[] = [];
  private state: State = { kind: 'unknown' };
  private nextPollAt = 0;
  private isPolling = false;

  constructor(fetch: FetchBlock) {
    this.fetch = fetch;
  }

  /** Calls back when the node turns out to be on another chain than before. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The highest block that is known to be final, or -1. */
  finalizedNumber(now: number): number {
    const { state } = this;
    const age = state.kind === 'confirmed' ? now - state.at : Number.POSITIVE_INFINITY;
    if (age > TRUST_MS / 2) this.poll(now);
    return state.kind === 'confirmed' && age <= TRUST_MS ? state.anchor.number : -1;
  }

  /** A call could be cached if this block were final: checks whether it has become so. */
  pollIfAbove(block: number, now: number): void {
    if (this.state.kind === 'unknown' || block > this.state.anchor.number) this.poll(now);
  }

  /** The node failed: nothing counts as final until the next check, and a check under way does not count. */
  invalidate(): void {
    const { state } = this;
    this.state = state.kind === 'unknown' ? { ...state } : { kind: 'unconfirmed', anchor: state.anchor };
  }

  /** The index was rolled back: the blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    if (this.state.kind !== 'unknown' && to < this.state.anchor.number) this.reset();
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
        // Nothing was learnt: the anchor stays trusted until TRUST_MS are over.
        this.nextPollAt = now + RETRY_MS;
      })
      .finally(() => {
        this.isPolling = false;
      });
  }

  private async refresh(now: number): Promise<void> {
    const { state } = this;
    const known = state.kind === 'unknown' ? null : state.anchor;
    const [finalized, same] = await Promise.all([this.fetch('finalized'), known && this.fetch(known.number)]);
    // The answers may be of another node or chain than the state is about now.
    if (state !== this.state) return;
    if (known !== null) {
      if (same === null) return; // missing for now: proves neither the same chain nor another
      if (same.hash !== known.hash) return this.reset();
    }
    if (finalized === null) {
      this.nextPollAt = now + RETRY_MS;
      return;
    }
    const anchor = known === null || finalized.number > known.number ? finalized : known;
    this.state = { kind: 'confirmed', anchor, at: now };
  }
}
