/**
 * The newest blocks of the node's chain as the filters saw them, and how the chain changed: which blocks were added and
 * which orphaned, in order. It asks the node only when a client polls; all filters share one view.
 */
import { UpstreamError } from '../../errors.ts';
import { findForkPoint } from '../../lib/fork-point.ts';
import { toQuantity } from '../../lib/hex.ts';
import type { BlockRef } from '../../types.ts';
import type { BlockHeader } from '../../upstream/block-header.ts';
import { askHeader } from '../ask-header.ts';
import type { RequestFn } from '../call.ts';

/** One change of the chain: a block that was added or orphaned. */
export interface ChainChange extends BlockRef {
  added: boolean;
}

/** Blocks below the first head that are fetched too, to know where a reorg branches off. */
const LOOK_BACK = 32;
/** Changes that are remembered. A filter may go five minutes without a poll: a thousand blocks on the fastest chain. */
const MAX_CHANGES = 8_192;
/** When more blocks than this are new at once, the view starts over instead of following each. */
const MAX_GAP = 4_096;
/** Headers requested at the same time. */
const CONCURRENCY = 16;

export class ChainView {
  private readonly ask: RequestFn;
  private readonly askUncached: RequestFn;
  /** Consecutive blocks, each the parent of the next. */
  private blocks: BlockRef[] = [];
  private changes: ChainChange[] = [];
  private count = 0;
  private running: Promise<void> | null = null;
  private following: Promise<void> | null = null;

  /** `askUncached` asks the node itself: it never shares the answer to an earlier call. */
  constructor(ask: RequestFn, askUncached: RequestFn) {
    this.ask = ask;
    this.askUncached = askUncached;
  }

  /** Number of changes so far. */
  get position(): number {
    return this.count;
  }

  /** Height of the oldest block that is still known. */
  get oldestNumber(): number {
    return this.blocks[0]?.number ?? 0;
  }

  /** The hash of the block at a height, if it is known. */
  hashAt(number: number): string | undefined {
    return this.blocks[number - this.oldestNumber]?.hash;
  }

  /** Changes after the first `position`, in order; null when some of them are no longer remembered. */
  changesSince(position: number): readonly ChainChange[] | null {
    const known = this.count - this.changes.length;
    return position < known ? null : this.changes.slice(position - known);
  }

  /**
   * Updates the view from the node. A client that polls because of a new block must find it, so an update that is
   * already running does not count: another one follows it. Rejects with UpstreamError when the node does not tell its
   * blocks.
   */
  refresh(): Promise<void> {
    this.following ??= this.refreshAfter(this.running);
    return this.following;
  }

  /** Whether the block is on the node's chain at this moment. Rejects with UpstreamError. */
  async isCanonical({ number, hash }: BlockRef): Promise<boolean> {
    return (await askHeader(this.askUncached, toQuantity(number)))?.hash === hash;
  }

  private async refreshAfter(before: Promise<void> | null): Promise<void> {
    await before?.catch(() => undefined); // its own callers get its error
    this.following = null;
    this.running = this.refreshOnce().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async refreshOnce(): Promise<void> {
    const head = await askHeader(this.askUncached, 'latest');
    // Not "nothing new": the client has to ask again.
    if (head === null) throw new UpstreamError('connection', 'the node has no latest block now');
    const tip = this.blocks.at(-1);
    if (head.hash === tip?.hash) return;
    // A head below all known blocks is on another chain, or this one was set back further than is known.
    const isFar = tip === undefined || head.number - tip.number > MAX_GAP || head.number < this.oldestNumber;
    if (isFar) return this.reset(head);
    const fork = await this.findFork(tip, head);
    // The node's head is already known: the node is behind for now, and no block is orphaned.
    if (fork === head.number) return;
    this.replace(linked(await this.headers(fork + 1, head.number), this.hashAt(fork)));
  }

  /** Starts over, with enough blocks to recognise a reorg later. Every earlier position is lost. */
  private async reset(head: BlockHeader): Promise<void> {
    const first = Math.max(0, head.number - LOOK_BACK);
    const before = await this.headers(first, head.number - 1);
    // Keeps the unbroken chain of parents right below the head.
    const blocks: BlockHeader[] = [head];
    for (const block of before.reverse()) {
      if (block?.hash !== blocks[0]!.parentHash) break;
      blocks.unshift(block);
    }
    this.blocks = blocks.map(({ number, hash }) => ({ number, hash }));
    this.changes = [];
    this.count++; // so that no earlier position is valid
  }

  /** The highest block that the node's chain and the known one share; a lower one if the node lacks a block for now. */
  private findFork(tip: BlockRef, head: BlockHeader): Promise<number> {
    return findForkPoint(
      Math.min(tip.number, head.number),
      this.oldestNumber,
      (number) => this.hashAt(number),
      async (number) =>
        number === head.number ? head.hash : ((await askHeader(this.ask, toQuantity(number)))?.hash ?? ''),
    );
  }

  /** Puts consecutive blocks that follow a known one in the place of what is known from the first new one of them on. */
  private replace(blocks: readonly BlockRef[]): void {
    // The first may be known: the node, or another at its address, had no such block when the fork was looked for.
    const fresh = blocks.filter(({ number, hash }) => hash !== this.hashAt(number));
    const [first] = fresh;
    // No new block could be fetched: the chain changed again, and the next update will find out.
    if (first === undefined) return;
    for (const block of this.blocks.splice(first.number - this.oldestNumber)) this.recordChange(block, false);
    for (const block of fresh) {
      this.blocks.push(block);
      this.recordChange(block, true);
    }
    this.blocks.splice(0, this.blocks.length - MAX_GAP);
    this.changes.splice(0, this.changes.length - MAX_CHANGES);
  }

  private recordChange({ number, hash }: BlockRef, added: boolean): void {
    this.count++;
    this.changes.push({ added, number, hash });
  }

  /** Headers of consecutive blocks; null for one that the node does not have now. */
  private async headers(first: number, last: number): Promise<(BlockHeader | null)[]> {
    const headers: (BlockHeader | null)[] = [];
    let next = first;
    const work = async () => {
      while (next <= last) {
        const number = next++;
        headers[number - first] = await askHeader(this.ask, toQuantity(number));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return headers;
  }
}

/** The blocks up to where the chain of parents breaks, beginning with a child of `parent` if that is known. */
function linked(headers: readonly (BlockHeader | null)[], parent: string | undefined): BlockRef[] {
  const blocks: BlockRef[] = [];
  let expected = parent;
  for (const header of headers) {
    if (header === null || (expected !== undefined && header.parentHash !== expected)) break;
    blocks.push({ number: header.number, hash: header.hash });
    expected = header.hash;
  }
  return blocks;
}
