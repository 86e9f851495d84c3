/** Which block is known to be final, and whether the node is still on the same chain. */
import { toQuantity } from '../lib/hex.ts';
import type { BlockRef } from '../types.ts';
import type { BlockHeader } from '../upstream/block-header.ts';
import { askBlock, headerIn } from './ask-header.ts';
import type { RequestFn } from './call.ts';

/** How long after a check the node is trusted to be on the same chain, ms. A test chain may be replaced at any time. */
const TRUST_MS = 10_000;
/** Milliseconds between checks of a node whose finalized block is awaited, and of one that has none or failed. */
const POLL_MS = 200;
const RETRY_MS = 5_000;

export class Finality {
  private readonly ask: RequestFn;
  private readonly onReplaced: () => void;
  /** The highest block known to be final. */
  private anchor: BlockRef | null = null;
  /** When the node last confirmed the anchor; by performance.now(), as all times here. */
  private confirmedAt = Number.NEGATIVE_INFINITY;
  private nextPollAt = 0;
  private isPolling = false;
  /** Counts what makes earlier questions worthless: their answers may be of another node or chain. */
  private epoch = 0;

  /** `onReplaced` is called when the node turns out to be on another chain than before. */
  constructor(ask: RequestFn, onReplaced: () => void) {
    this.ask = ask;
    this.onReplaced = onReplaced;
  }

  /** The highest block that is known to be final, or -1. */
  finalizedNumber(now: number): number {
    const age = now - this.confirmedAt;
    if (age > TRUST_MS / 2) this.poll(now);
    return this.anchor === null || age > TRUST_MS ? -1 : this.anchor.number;
  }

  /** A call could be cached if this block were final: checks whether it has become so. */
  pollIfAbove(block: number, now: number): void {
    if (this.anchor === null || block > this.anchor.number) this.poll(now);
  }

  /** The node failed and may be another one when it is back: nothing counts as final until the next check. */
  invalidate(): void {
    this.epoch++;
    this.confirmedAt = Number.NEGATIVE_INFINITY;
  }

  /** The blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    if (this.anchor !== null && to < this.anchor.number) this.reset();
  }

  /** The chain was rewritten. */
  reset(): void {
    this.anchor = null;
    this.invalidate();
    this.onReplaced();
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
    const { epoch } = this;
    const [finalized, anchor] = await Promise.all([
      this.header('finalized'),
      this.anchor && this.header(toQuantity(this.anchor.number)),
    ]);
    if (epoch !== this.epoch) return;
    if (this.anchor !== null) {
      if (anchor === null) return; // missing for now: proves neither the same chain nor another
      if (anchor.hash !== this.anchor.hash) return this.reset();
    }
    if (finalized === null) {
      this.nextPollAt = now + RETRY_MS;
      return;
    }
    if (this.anchor === null || finalized.number > this.anchor.number) this.anchor = finalized;
    this.confirmedAt = now;
  }

  private async header(id: string): Promise<BlockHeader | null> {
    return headerIn(await askBlock(this.ask, id));
  }
}
