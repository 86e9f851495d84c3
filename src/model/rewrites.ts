/**
 * Rewrites of an index. A repair changes rows under unchanged block hashes, so number and hash of a block do not show
 * whether what was read from it still holds. Whoever remembers a place in the index keeps the index's mark beside it,
 * from which the index tells what it has rewritten since. No function here reads or writes.
 */

/** The mark of an index without rewrites. Places remembered by earlier versions have this mark. */
export const NO_REWRITES = '0';

/** How many rewrites, the lowest block of any of them, and the token of the last one: "3-1200-9f86d081". */
export const MARK_PATTERN = /^(0|[1-9]\d{0,14}-\d{1,15}-[0-9a-f]{8})$/;

/** A rewrite: the blocks from `first` on were removed and read again. */
export interface Rewrite {
  /** Counts the rewrites of the index, from 1. */
  number: number;
  first: number;
  /** The lowest block of this and all earlier rewrites. */
  lowest: number;
  /** The highest block that the index had when this or an earlier one began. Blocks above were indexed once only. */
  highest: number;
  /** Random 32 bits: tells apart the rewrites of two copies of an index, which have the same number. */
  token: number;
}

export function markOf({ number, lowest, token }: Pick<Rewrite, 'number' | 'lowest' | 'token'>): string {
  return `${number}-${lowest}-${token.toString(16).padStart(8, '0')}`;
}

/** The rewrites that an index remembers, in order. */
export type Rewrites = readonly Rewrite[];

/** The mark of the index. */
export function currentMark(rewrites: Rewrites): string {
  const last = rewrites.at(-1);
  return last === undefined ? NO_REWRITES : markOf(last);
}

/**
 * The lowest block that was rewritten since the index had a mark, null for none. An unknown mark is that of another
 * copy of the index, or too old to be remembered: then all blocks count that either has ever rewritten.
 */
export function rewrittenSince(rewrites: Rewrites, mark: string): number | null {
  const lowest = rewrites.at(-1)?.lowest ?? null;
  if (mark === NO_REWRITES) return lowest;
  const known = rewrites.findIndex((rewrite) => markOf(rewrite) === mark);
  if (known < 0) return Math.min(Number(mark.split('-')[1]), lowest ?? Number.POSITIVE_INFINITY);
  const later = rewrites.slice(known + 1);
  return later.length === 0 ? null : Math.min(...later.map(({ first }) => first));
}

/**
 * The lowest block that may have been rewritten since a client read everything up to `block` under a mark; null if none
 * of that was. A null mark is not named: the block was never rewritten then, or the client does not know of marks.
 */
export function rewrittenBelow(rewrites: Rewrites, block: number, mark: string | null): number | null {
  const unnamed = isInRewritten(rewrites, block) ? (rewrites.at(-1)?.lowest ?? null) : null;
  const from = mark === null ? unnamed : rewrittenSince(rewrites, mark);
  return from !== null && from <= block ? from : null;
}

/** Whether a block may have been rewritten since a client read it. */
export function isRewritten(rewrites: Rewrites, block: number, mark: string | null): boolean {
  return rewrittenBelow(rewrites, block, mark) !== null;
}

/**
 * The mark to name beside a block; null for one that was never rewritten. It stays until the block is rewritten again.
 */
export function markOfBlock(rewrites: Rewrites, block: number): string | null {
  if (!isInRewritten(rewrites, block)) return null;
  const last = rewrites.findLast(({ first, highest }) => first <= block && block <= highest);
  return markOf((last ?? rewrites[0])!);
}

function isInRewritten(rewrites: Rewrites, block: number): boolean {
  const last = rewrites.at(-1);
  return last !== undefined && last.lowest <= block && block <= last.highest;
}
