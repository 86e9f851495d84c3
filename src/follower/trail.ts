/**
 * A follower that remembers the hashes of blocks it has passed, down to one that was final at the time, and the blocks
 * of whose events it may have some. What is final now says nothing about where it stands: that may lie on another
 * branch than the follower. No function here reads or writes.
 */
import type { Hex } from '../lib/hex.ts';
import { isFinal } from '../model/finality.ts';
import {
  type Chain,
  isHeld,
  isReplaced,
  isRewritten,
  type KnownBlock,
  type Outcome,
  outcomeAt,
} from './outcome.ts';

/** How far events have been accepted. */
export interface TrailCursor extends KnownBlock<Hex> {
  /** Number of processed transfers of the block; null for all. */
  position: number | null;
}

/** A cursor with the blocks below it. */
export interface Position extends TrailCursor {
  /**
   * Blocks passed before, highest first, down to one that was final while the index had the cursor's block. Null if
   * they are not known: an earlier version stored none.
   */
  trail: readonly KnownBlock<Hex>[] | null;
  /** Mark of the index when the follower came here (model/rewrites.ts). */
  mark: string;
}

/** Events of a block that may have to be withdrawn. */
export interface Part extends KnownBlock<Hex> {
  hash: Hex;
  /** Whether their withdrawal has begun. It is completed even if the block comes back. */
  withdrawn: boolean;
}

interface Limits {
  /** The last block that counts. */
  upTo: number;
  /** `index.max_reorg`. It matters only without a trail. */
  maxReorg: number;
}

/**
 * What the follower does next. `parts` are in reverse order of delivery; those up to the cursor may be missing while
 * `isHeld(cursor)` and none is being withdrawn.
 */
export function nextOfTrail(
  position: Position,
  parts: readonly Part[],
  chain: Chain,
  { upTo, maxReorg }: Limits,
): Outcome<Position> {
  const passed = [position, ...(isHeld(position, chain) ? [] : (position.trail ?? []))];
  const replaced = [...passed, ...parts.filter(({ withdrawn }) => !withdrawn)].filter((known) =>
    isReplaced(known, chain),
  );
  const lost = [...replaced, ...parts.filter(({ withdrawn }) => withdrawn)].map(({ number }) => number);
  const { rewrittenFrom } = chain;
  if (rewrittenFrom !== null && isRewritten(position.number, chain)) lost.push(rewrittenFrom);
  if (lost.length > 0) {
    const from = Math.min(...lost); // all blocks from here on were lost
    const to = { ...resumeBelow(from, position, parts, maxReorg), mark: chain.mark };
    return { kind: 'withdrawn', from, to, cause: from === rewrittenFrom ? 'rewrite' : 'reorg' };
  }
  if (position.number > chain.head) return { kind: 'behind' };
  const passedUpTo = position.position === null ? position.number : position.number - 1;
  return outcomeAt(passedUpTo, upTo);
}

/** The highest known block below `lowest`. The index has it, because the blocks of a follower are one branch. */
function resumeBelow(
  lowest: number,
  position: Position,
  parts: readonly Part[],
  maxReorg: number,
): Omit<Position, 'mark'> {
  if (position.number < lowest) return position;
  const trail = (position.trail ?? []).filter(({ number }) => number < lowest);
  const [passed] = trail;
  const part = parts.find(({ number }) => number < lowest); // its block is done: the cursor is above it
  if (part !== undefined && part.number > (passed?.number ?? -1))
    return { number: part.number, hash: part.hash, position: null, trail };
  if (passed !== undefined) return { ...passed, position: null, trail: trail.slice(1) };
  const number = position.trail === null ? lowest - 1 - maxReorg : lowest - 1;
  return { number: Math.max(-1, number), hash: null, position: null, trail: [] };
}

/** Where a follower moves on from. */
export type TrailStart = Pick<Position, 'number' | 'hash' | 'trail'>;

/** So many blocks are kept without gaps; below, the gaps double. */
const DENSE = 128;

/**
 * The trail of a follower that moves on to `block`. `between` are the blocks after the old cursor and before `block`,
 * highest first. `final` is the highest block that is final now.
 */
export function trailTo(
  block: number,
  { between, from, final }: { between: Iterable<KnownBlock<Hex>>; from: TrailStart; final: number },
): KnownBlock<Hex>[] {
  if (block === from.number) return [...(from.trail ?? [])];
  const trail: KnownBlock<Hex>[] = [];
  if (isFinal(block, final)) return trail;
  let gap = DENSE;
  for (const known of below(from, between)) {
    const isLast = isFinal(known.number, final);
    const distance = block - known.number;
    if (isLast || distance <= DENSE || distance >= gap) {
      trail.push({ number: known.number, hash: known.hash });
      if (distance > DENSE) gap = distance * 2;
    }
    if (isLast) break;
  }
  return trail;
}

function* below(from: TrailStart, between: Iterable<KnownBlock<Hex>>): Generator<KnownBlock<Hex>> {
  yield* between;
  yield from;
  yield* from.trail ?? [];
}
