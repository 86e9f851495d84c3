/** A follower that keeps every block it has passed in a store of its own, such as the tables of the sink. */
import { findForkPoint } from '../lib/fork-point.ts';
import { type Outcome, outcomeAt } from './outcome.ts';

/** A block in both stores. */
export interface CopiedBlock {
  number: number;
  hash: string;
  /** Highest transfers.id up to and including the block: distinguishes two versions of a repaired block. */
  lastTransfer: number;
}

interface Stores<B extends CopiedBlock> {
  /** The last block of the index. */
  head: B;
  /** The first block that is copied. */
  first: number;
  /** The last block that may be copied, null for none. */
  upTo: number | null;
  /** The lowest block rewritten since the copy's mark (model/rewrites.ts), null for none. */
  rewrittenFrom: number | null;
  indexed(number: number): B | null;
  copied(number: number): Promise<B | null>;
}

/**
 * What a copy that ends with `tip` (null while it is empty) does next. It goes back to null when nothing of it stays.
 * `unrelated`: the stores have no block in common, which means another chain, not a reorg.
 */
export async function nextOfCopy<B extends CopiedBlock>(
  tip: B | null,
  { head, first, upTo, rewrittenFrom, indexed, copied }: Stores<B>,
): Promise<Outcome<B | null> | { kind: 'unrelated' }> {
  const atTip = tip && indexed(tip.number);
  const last = Math.min(tip?.number ?? first - 1, (rewrittenFrom ?? Number.POSITIVE_INFINITY) - 1);
  if (tip === null || (last === tip.number && atTip !== null && isSame(tip, atTip)))
    return outcomeAt(tip?.number ?? first - 1, upTo ?? -1);
  const to = await lastCommonBlock(Math.min(last, head.number), first, indexed, copied);
  if (to === null) {
    const isSameChain = (await copied(first))?.hash === indexed(first)?.hash;
    return isSameChain ? { kind: 'withdrawn', from: first, to, cause: 'rewrite' } : { kind: 'unrelated' };
  }
  // The index is a shorter one of the same chain.
  if (last > head.number && to.number === head.number) return { kind: 'behind' };
  const isRewrite = to.number === last || atTip?.hash === tip.hash;
  return { kind: 'withdrawn', from: to.number + 1, to, cause: isRewrite ? 'rewrite' : 'reorg' };
}

async function lastCommonBlock<B extends CopiedBlock>(
  highest: number,
  first: number,
  indexed: (number: number) => B | null,
  copied: (number: number) => Promise<B | null>,
): Promise<B | null> {
  const agreed = new Map<number, B>(); // the index may move during the search
  const agree = async (number: number): Promise<boolean> => {
    const own = await copied(number);
    const other = indexed(number);
    if (own === null || other === null || !isSame(own, other)) return false;
    agreed.set(number, own);
    return true;
  };
  return agreed.get(await findForkPoint(highest, first, agree)) ?? null;
}

function isSame(a: CopiedBlock, b: CopiedBlock): boolean {
  return a.number === b.number && a.hash === b.hash && a.lastTransfer === b.lastTransfer;
}
