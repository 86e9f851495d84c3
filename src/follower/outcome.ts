/**
 * What a follower of the index does next. A follower is at a cursor, the last block it has passed, and knows blocks
 * below it by number and hash. The index shows which of them it still has. Followers differ in what they remember: a
 * trail of hashes (hooks), every block (the sink), the removed blocks and their parents (replay after a reorg).
 */

/** A block as a follower knows it. */
export interface KnownBlock<H extends string = string> {
  number: number;
  /** Null if the follower has not seen the block. Such a block counts as on every branch. */
  hash: H | null;
}

/** A commit of the index, as a follower sees it that comes with a mark (model/rewrites.ts). */
export interface Chain {
  /** The last block. */
  head: number;
  /** Null for a block before the first and after the last. */
  hashAt(block: number): string | null;
  /** The lowest block rewritten since the follower's mark, null for none. Blocks from there on count as lost. */
  rewrittenFrom: number | null;
  /** The mark of this commit. */
  mark: string;
}

/** `C`: the follower's cursor. */
export type Outcome<C> =
  /** The index has the cursor's block: the blocks after it are next, up to `upTo`. */
  | { kind: 'rows'; upTo: number }
  /** The index has the cursor's block, and no block after it counts yet. */
  | { kind: 'idle' }
  /**
   * The index ends below the cursor, and nothing shows another branch: it is being built again, or it is in the middle
   * of a reorg. Nothing is decided until it moves.
   */
  | { kind: 'behind' }
  /** What came from the blocks `from` and above is to be withdrawn. Then the follower continues from `to`. */
  | {
      kind: 'withdrawn';
      from: number;
      to: C;
      /**
       * `rewrite`: a repair has removed blocks from here on and read them again, perhaps with other rows under the
       * same hashes.
       */
      cause: 'reorg' | 'rewrite';
    };

/** The outcome for a cursor whose block the index has. */
export function outcomeAt(cursor: number, upTo: number): Outcome<never> {
  return upTo > cursor ? { kind: 'rows', upTo } : { kind: 'idle' };
}

/** Whether the index has the block as the follower knows it. */
export function isHeld({ number, hash }: KnownBlock, chain: Chain): boolean {
  const isSame = hash === null || chain.hashAt(number) === hash;
  return number <= chain.head && isSame && !isRewritten(number, chain);
}

/** Whether the index has another block at that height, or has rewritten it. */
export function isReplaced({ number, hash }: KnownBlock, chain: Chain): boolean {
  if (isRewritten(number, chain)) return true;
  const indexed = hash === null ? null : chain.hashAt(number);
  return indexed !== null && indexed !== hash;
}

/** Whether a repair has rewritten the block since the follower's mark. */
export function isRewritten(block: number, { rewrittenFrom }: Pick<Chain, 'rewrittenFrom'>): boolean {
  return rewrittenFrom !== null && block >= rewrittenFrom;
}
