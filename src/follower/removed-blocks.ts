/** A follower that names the block it saw last, while someone remembers the blocks that the index has removed. */
import { isRewritten, type Rewrites } from '../model/rewrites.ts';
import { type KnownBlock, type Outcome, outcomeAt } from './outcome.ts';

/** A block that the index has removed. */
export interface RemovedBlock extends KnownBlock {
  hash: string;
  /** Hash of its parent. */
  parent: string;
}

type Seen = Pick<RemovedBlock, 'number' | 'hash'>;

/** A block that a follower names, with the mark beside it. */
export type MarkedBlock = Seen & {
  /** Null: a block that was never rewritten, or a follower that does not know of marks. */
  mark: string | null;
};

interface Sources<B extends RemovedBlock> {
  /** The last block of the index. */
  head: number;
  rewrites: Rewrites;
  /** Whether the index has a block. */
  isIndexed(block: Seen): boolean;
  removed(hash: string): B | undefined;
}

/**
 * What a follower that saw `seen` last does next, with the removed blocks to withdraw, highest first. Null if one of
 * them is no longer remembered, or if a repair has rewritten one that it saw: nobody remembers what was in it.
 */
export function nextAfter<B extends RemovedBlock>(
  seen: MarkedBlock,
  { head, rewrites, isIndexed, removed }: Sources<B>,
): { outcome: Outcome<Seen>; gone: B[] } | null {
  const gone: B[] = [];
  let at: Seen = seen;
  if (isRewritten(rewrites, seen.number, seen.mark)) return null;
  while (!isIndexed(at)) {
    const block = removed(at.hash);
    if (block === undefined) return null;
    gone.push(block);
    at = { number: block.number - 1, hash: block.parent };
  }
  const outcome: Outcome<Seen> =
    gone.length === 0
      ? outcomeAt(seen.number, head)
      : { kind: 'withdrawn', from: at.number + 1, to: at, cause: 'reorg' };
  return { outcome, gone };
}
