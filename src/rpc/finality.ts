/** Up to which block nothing changes any more, and whether the node is still of the chain that it was of. */
import { toQuantity } from '../lib/hex.ts';
import type { BlockRef } from '../types.ts';
import type { BlockHeader } from '../upstream/block-header.ts';
import type { Ask } from './call.ts';
import { blockHeaderOf } from './tail.ts';

/** For how long the node counts as being of the same chain after it was looked at, milliseconds. A test chain may be replaced at any time. */
const TRUST_MS = 10_000;
/** Between two looks at a node whose finalized block is being waited for, and at one that names none. */
const LOOK_MS = 200;
const LOOK_AGAIN_MS = 5_000;

const METHOD = 'eth_getBlockByNumber';

export class Finality {
  private readonly ask: Ask;
  private readonly onReplaced: () => void;
  /** The highest block known to be final. */
  private anchor: BlockRef | null = null;
  /** When the node was last seen to have the anchor; by performance.now(). */
  private seenAt = Number.NEGATIVE_INFINITY;
  private nextLook = 0;
  private looking = false;

  /** `onReplaced` is called when the node turns out to be of another chain than before. */
  constructor(ask: Ask, onReplaced: () => void) {
    this.ask = ask;
    this.onReplaced = onReplaced;
  }

  /** The highest block that is known to be final, or -1. */
  height(now: number): number {
    const age = now - this.seenAt;
    if (age > TRUST_MS / 2) this.look(now);
    return this.anchor === null || age > TRUST_MS ? -1 : this.anchor.number;
  }

  /** A call would profit if this block were final: finds out whether it has become so. */
  wish(block: number, now: number): void {
    if (this.anchor === null || block > this.anchor.number) this.look(now);
  }

  /** The node failed, and may be another one when it is back: nothing is final until it was looked at. */
  doubt(): void {
    this.seenAt = Number.NEGATIVE_INFINITY;
  }

  /** The chain was rewritten. */
  reset(): void {
    this.anchor = null;
    this.doubt();
    this.onReplaced();
  }

  private look(now: number): void {
    if (this.looking || now < this.nextLook) return;
    this.looking = true;
    this.nextLook = now + LOOK_MS;
    this.refresh(now)
      .catch(() => {
        // Nothing was learnt: what was known stays true for as long as it is trusted.
        this.nextLook = now + LOOK_AGAIN_MS;
      })
      .finally(() => {
        this.looking = false;
      });
  }

  private async refresh(now: number): Promise<void> {
    const [finalized, anchor] = await Promise.all([
      this.header('finalized'),
      this.anchor && this.header(toQuantity(this.anchor.number)),
    ]);
    if (this.anchor !== null) {
      if (anchor === null) return; // not there now: neither the same nor another
      if (anchor.hash !== this.anchor.hash) return this.reset();
    }
    if (finalized === null) {
      this.nextLook = now + LOOK_AGAIN_MS;
      return;
    }
    if (this.anchor === null || finalized.number > this.anchor.number) this.anchor = finalized;
    this.seenAt = now;
  }

  private async header(id: string): Promise<BlockHeader | null> {
    return blockHeaderOf((await this.ask(METHOD, [id, false])).tail, METHOD);
  }
}
