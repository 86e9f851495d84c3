/**
 * Where a follower of the index stands after a reorg. It knows blocks by number and hash: those it has passed, down to
 * one that was final at the time, and those of whose events it may have some. The index shows which of them it still
 * has. What is final now says nothing about that: it may lie on another branch than the follower. No function here reads
 * or writes.
 */
import type { Hex } from '../lib/hex.ts';

export interface KnownBlock {
  block: number;
  /** Null if the follower has not seen the block. Such a block counts as on every branch. */
  hash: Hex | null;
}

/** How far a receiver has accepted events. */
export interface HookCursor extends KnownBlock {
  /** Number of processed transfers of the block; null for all. */
  position: number | null;
}

/** A cursor with the blocks below it. */
export interface Position extends HookCursor {
  /**
   * Blocks passed before, highest first, down to one that was final while the index had the cursor's block. Null if
   * they are not known: an earlier version stored none.
   */
  trail: readonly KnownBlock[] | null;
}

/** Events of a block that may have to be withdrawn. */
export interface Part {
  block: number;
  hash: Hex;
  /** Whether their withdrawal has begun. It is completed even if the block comes back. */
  withdrawn: boolean;
}

/** A commit of the index. */
export interface Chain {
  /** The last block. */
  head: number;
  /** Null for a block before the first and after the last. */
  hashAt(block: number): Hex | null;
}

export type Standing<P extends Part> =
  /** The index has the block of the cursor: what follows it is next. */
  | { kind: 'follow' }
  /** The index does not reach the cursor, and nothing shows another branch. */
  | { kind: 'behind' }
  /** These parts are to be withdrawn, in this order; then the follower continues from `resume`. */
  | { kind: 'withdraw'; gone: P[]; resume: Position };

/**
 * Compares a follower with the index. `parts` are in reverse order of delivery; those up to the cursor may be missing
 * while `isHeld(cursor)` and none is being withdrawn. `maxReorg` matters only without a trail.
 */
export function standingOf<P extends Part>(
  position: Position,
  parts: readonly P[],
  chain: Chain,
  maxReorg: number,
): Standing<P> {
  const passed = [position, ...(isHeld(position, chain) ? [] : (position.trail ?? []))];
  const replaced = [...passed, ...parts.filter(({ withdrawn }) => !withdrawn)].filter((known) =>
    isReplaced(known, chain),
  );
  const lost = [...replaced, ...parts.filter(({ withdrawn }) => withdrawn)];
  if (lost.length === 0) return { kind: position.block > chain.head ? 'behind' : 'follow' };
  const lowest = Math.min(...lost.map(({ block }) => block)); // all blocks from here on were lost
  const gone = parts.filter(({ block }) => block >= lowest);
  return { kind: 'withdraw', gone, resume: resumeBelow(lowest, position, parts, maxReorg) };
}

/** The highest known block below `lowest`. The index has it, because the blocks of a follower are one branch. */
function resumeBelow(lowest: number, position: Position, parts: readonly Part[], maxReorg: number): Position {
  if (position.block < lowest) return position;
  const trail = (position.trail ?? []).filter(({ block }) => block < lowest);
  const [passed] = trail;
  const part = parts.find(({ block }) => block < lowest); // its block is done: the cursor is above it
  if (part !== undefined && part.block > (passed?.block ?? -1))
    return { block: part.block, hash: part.hash, position: null, trail };
  if (passed !== undefined) return { ...passed, position: null, trail: trail.slice(1) };
  const block = position.trail === null ? lowest - 1 - maxReorg : lowest - 1;
  return { block: Math.max(-1, block), hash: null, position: null, trail: [] };
}

/** Whether the index has the block. */
export function isHeld({ block, hash }: KnownBlock, chain: Chain): boolean {
  return block <= chain.head && (hash === null || chain.hashAt(block) === hash);
}

function isReplaced({ block, hash }: KnownBlock, chain: Chain): boolean {
  const indexed = hash === null ? null : chain.hashAt(block);
  return indexed !== null && indexed !== hash;
}

/** So many blocks are kept without gaps; below, the gaps double. */
const DENSE = 128;

/**
 * The trail of a follower that moves on to `block`. `between` are the blocks after the old cursor and before `block`,
 * highest first. `final` is the highest block that is final now.
 */
export function trailTo(
  block: number,
  { between, from, final }: { between: Iterable<KnownBlock>; from: Position; final: number },
): KnownBlock[] {
  if (block === from.block) return [...(from.trail ?? [])];
  const trail: KnownBlock[] = [];
  if (block <= final) return trail;
  let gap = DENSE;
  for (const known of below(from, between)) {
    const isFinal = known.block <= final;
    const distance = block - known.block;
    if (isFinal || distance <= DENSE || distance >= gap) {
      trail.push({ block: known.block, hash: known.hash });
      if (distance > DENSE) gap = distance * 2;
    }
    if (isFinal) break;
  }
  return trail;
}

function* below(from: Position, between: Iterable<KnownBlock>): Generator<KnownBlock> {
  yield* between;
  yield from;
  yield* from.trail ?? [];
}
