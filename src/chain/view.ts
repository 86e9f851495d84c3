/**
 * The chain as the filters see it: which blocks were added and which orphaned, in order. It calls the node only when a
 * client polls; all filters share one view.
 */
import { UpstreamError } from '../lib/errors.ts';
import { toQuantity } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import type { BlockHeader } from '../node/block-header.ts';
import type { FetchHeader } from './block.ts';
import { ChainWindow } from './window.ts';

/** One change of the chain: a block that was added or orphaned. */
export interface ChainChange extends BlockRef {
  added: boolean;
}

/** Blocks below the first head that are fetched too, to know where a reorg branches off. */
const LOOK_BACK = 32;
/** Changes that are kept. A filter may go five minutes without a poll: a thousand blocks on the fastest chain. */
const MAX_CHANGES = 8_192;
/** When more blocks than this are new at once, the view starts over instead of following each. */
const MAX_GAP = 4_096;
/** Headers requested at the same time. */
const CONCURRENCY = 16;
/** Attempts to get a header that another node behind the same address must have. */
const MAX_TRIES = 4;
/** How long the node's head must stay below all known blocks before the chain counts as set back, milliseconds. */
const SET_BACK_MS = 10_000;

export class ChainView {
  private readonly fetch: FetchHeader;
  private readonly fetchUncached: FetchHeader;
  private readonly clock: () => number;
  private readonly window = new ChainWindow<BlockRef>({ capacity: MAX_GAP, setBackMs: SET_BACK_MS });
  private changes: ChainChange[] = [];
  private changeCount = 0;
  private running: Promise<void> | null = null;
  /** The refresh that begins when the running one ends. */
  private next: Promise<void> | null = null;

  /** `fetch` may answer from a cache, `fetchUncached` always calls the node. `clock` is in milliseconds. */
  constructor(fetch: FetchHeader, fetchUncached: FetchHeader, clock: () => number) {
    this.fetch = fetch;
    this.fetchUncached = fetchUncached;
    this.clock = clock;
  }

  /** Number of changes so far. */
  get position(): number {
    return this.changeCount;
  }

  /** Height of the oldest block that is still known. */
  get oldestNumber(): number {
    return this.window.oldestNumber;
  }

  /** Changes after the first `position`, in order; null when some of them are no longer kept. */
  changesSince(position: number): readonly ChainChange[] | null {
    const first = this.changeCount - this.changes.length;
    return position < first ? null : this.changes.slice(position - first);
  }

  /**
   * Updates the view from the node. A client that polls because of a new block must find it, so a refresh that is
   * already running does not count: another one follows it. Rejects with UpstreamError when a header cannot be fetched.
   */
  refresh(): Promise<void> {
    this.next ??= this.refreshAfter(this.running);
    return this.next;
  }

  /** The index was rolled back: the blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    this.window.noteRollback(to);
  }

  /** Whether the block is on the node's chain at this moment. Rejects with UpstreamError. */
  async isCanonical({ number, hash }: BlockRef): Promise<boolean> {
    return (await this.fetchUncached(toQuantity(number)))?.hash === hash;
  }

  private async refreshAfter(before: Promise<void> | null): Promise<void> {
    await before?.catch(() => undefined); // its own callers get its error
    this.next = null;
    this.running = this.refreshOnce().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async refreshOnce(): Promise<void> {
    const head = await this.fetchUncached('latest');
    // Not "nothing new": the client has to poll again.
    if (head === null) throw new UpstreamError('connection', 'the node has no latest block now');
    const { tip } = this.window;
    const position = this.window.locate(head, this.clock());
    if (position === 'known' || position === 'behind') return;
    if (position !== 'new' || tip === undefined || head.number - tip.number > MAX_GAP)
      return this.reset(head);
    // A missing header counts as another block: the fork found is then too low, and `replace` skips the known blocks.
    const fork = await this.window.findForkPoint(
      head,
      async (number) => (await this.fetch(toQuantity(number)))?.hash ?? '',
    );
    // A head no higher than the known one may be that of a node which is still on a branch that others have left.
    if (head.number <= tip.number && (await this.isCanonical(tip))) return;
    this.replace(linked(await this.fetchRange(fork + 1, head.number), this.window.hashAt(fork)));
  }

  /** Starts over, with enough blocks to recognise a reorg later. Every earlier position is lost. */
  private async reset(head: BlockHeader): Promise<void> {
    const first = Math.max(0, head.number - LOOK_BACK);
    const before = await this.fetchRange(first, head.number - 1);
    // Keeps the unbroken chain of parents right below the head.
    const blocks: BlockHeader[] = [head];
    for (const fetched of before.reverse()) {
      const child = blocks[0]!;
      const block = await this.parentOf(child, fetched);
      if (block === null) break;
      blocks.unshift(block);
    }
    this.window.restart(blocks.map(({ number, hash }) => ({ number, hash })));
    this.changes = [];
    this.changeCount++; // so that no earlier position is valid
  }

  /** The parent of a block, which a node that lags may lack; null when it cannot be fetched. */
  private async parentOf(child: BlockHeader, fetched: BlockHeader | null): Promise<BlockHeader | null> {
    let block = fetched;
    for (let attempt = 1; block?.hash !== child.parentHash && attempt < MAX_TRIES; attempt++) {
      block = await this.fetchUncached(toQuantity(child.number - 1));
    }
    return block?.hash === child.parentHash ? block : null;
  }

  /** Replaces the known blocks from the first new one on by consecutive blocks, of which the first may be known. */
  private replace(blocks: readonly BlockRef[]): void {
    const fresh = blocks.filter(({ number, hash }) => hash !== this.window.hashAt(number));
    const [first] = fresh;
    // No new block could be fetched: the chain changed again, and the next refresh will find out.
    if (first === undefined) return;
    for (const block of this.window.removeFrom(first.number)) this.recordChange(block, false);
    for (const block of fresh) {
      this.window.push(block);
      this.recordChange(block, true);
    }
    this.changes.splice(0, this.changes.length - MAX_CHANGES);
  }

  private recordChange({ number, hash }: BlockRef, added: boolean): void {
    this.changeCount++;
    this.changes.push({ added, number, hash });
  }

  /** Headers of consecutive blocks; null for one that the node does not have now. */
  private async fetchRange(first: number, last: number): Promise<(BlockHeader | null)[]> {
    const headers: (BlockHeader | null)[] = [];
    let next = first;
    const work = async () => {
      while (next <= last) {
        const number = next++;
        headers[number - first] = await this.fetch(toQuantity(number));
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
