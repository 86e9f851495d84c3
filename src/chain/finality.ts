/** Tracks which block is known to be final, and whether the node is still on the same chain. */
import type { BlockRef } from '../model/block.ts';

/** Fetches the block of a tag or height; null when the node lacks it now. Rejects with UpstreamError. */
type FetchBlock = (id: number | 'finalized') => Promise<BlockRef | null>;

/** How long after a check the node is trusted to be on the same chain, ms. A test chain may be replaced at any time. */
const TRUST_MS = 10_000;
/** Milliseconds between checks while a block's finality is awaited, and after a check without a result. */
const POLL_MS = 200;
const RETRY_MS = 5_000;

/** The known state of the node's chain; each event replaces the object. */
type State =
  /** No block is known to be final. */
  | { kind: 'unknown' }
  /** The node confirmed the anchor, the highest block known to be final, at time `at`. */
  | { kind: 'confirmed'; anchor: BlockRef; at: number }
  /** The node failed after it confirmed the anchor, and may be another node when it returns. */
  | { kind: 'unconfirmed'; anchor: BlockRef };

/** All times are from performance.now(). */
export class Finality {
  private readonly fetch: FetchBlock;
  private readonly listeners: (() => void)[] = [];
  private state: State = { kind: 'unknown' };
  private nextPollAt = 0;
  private isPolling = false;

  constructor(fetch: FetchBlock) {
    this.fetch = fetch;
  }

  /** Calls the listener when the node turns out to be on another chain than before. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The highest block known to be final, or -1. */
  finalizedNumber(now: number): number {
    const { state } = this;
    const age = state.kind === 'confirmed' ? now - state.at : Number.POSITIVE_INFINITY;
    if (age > TRUST_MS / 2) this.poll(now);
    return state.kind === 'confirmed' && age <= TRUST_MS ? state.anchor.number : -1;
  }

  /** A call could be cached if this block were final: check whether it now is. */
  pollIfAbove(block: number, now: number): void {
    if (this.state.kind === 'unknown' || block > this.state.anchor.number) this.poll(now);
  }

  /** The node failed: nothing counts as final until the next check. Ignores a check in flight. */
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
        // Nothing learnt: the anchor stays trusted until TRUST_MS are over.
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
    // The answers may concern another node or chain than the current state.
    if (state !== this.state) return;
    if (known !== null) {
      if (same === null) return; // missing for now: proves nothing about the chain
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
