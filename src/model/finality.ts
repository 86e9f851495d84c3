/**
 * Which blocks are final, so that no reorg removes them. Every rule about it is here; other files ask. A node calls
 * blocks finalized. The indexer stores the highest indexed one as the index's anchor, which all readers of the index
 * use. The cache of `/rpc` depends on the node itself, so it asks again. No function here reads or writes.
 */
import type { Hex } from '../lib/hex.ts';
import type { BlockRef } from './block.ts';

/** The node's name for its highest final block. */
export const FINAL_TAG = 'finalized';

/** The head that an index follows. */
export type HeadTag = typeof FINAL_TAG | 'latest';

/** The head to follow. Finality lags the tip by 0.6 s on Monad and by minutes on other chains. */
export function headTagFor(wanted: 'auto' | HeadTag, software: string): HeadTag {
  if (wanted !== 'auto') return wanted;
  return software.startsWith('Monad/') ? FINAL_TAG : 'latest';
}

/** Whether an index that follows this head has final blocks only. */
export function neverRollsBack(head: HeadTag): boolean {
  return head === FINAL_TAG;
}

/** Whether a block is final when `final` is the highest known final block (null or -1 for none). */
export function isFinal(block: number, final: number | null): boolean {
  return final !== null && block <= final;
}

/** Whether any block is known to be final. */
export function hasFinal(final: number | null): boolean {
  return isFinal(0, final);
}

// Reorgs

/** What limits the reorgs of an index. */
export interface ReorgLimits {
  headTag: HeadTag;
  /** The anchor. */
  finalized: number | null;
  /** `index.max_reorg`: most blocks that one reorg may remove. */
  maxReorg: number;
}

/** Why a reorg may not remove the blocks above `to` from an index of this height; null if it may. */
export function reorgRefusal(
  { headTag, finalized, maxReorg }: ReorgLimits,
  { to, height }: { to: number; height: number },
): 'reorg_below_finalized' | 'reorg_too_deep' | null {
  if (neverRollsBack(headTag) || isFinal(to + 1, finalized)) return 'reorg_below_finalized';
  return height - to > maxReorg ? 'reorg_too_deep' : null;
}

/** The highest block that no reorg reaches while the index is at `head`; negative if there is none. */
export function highestBeyondReorg({
  finalized,
  head,
  maxReorg,
}: Pick<ReorgLimits, 'finalized' | 'maxReorg'> & { head: number }): number {
  return Math.max(finalized ?? -1, head - maxReorg);
}

/** The anchor once the index ends at `to`: a repair may remove final blocks. */
export function finalizedAfterRollback(finalized: number | null, to: number): number | null {
  return finalized === null ? null : Math.min(finalized, to);
}

// Polls of the node

/** A block to ask for: a tag or a number. */
export type BlockId = HeadTag | number;

/** What one poll of the node showed. */
export interface FinalityPoll {
  /** The block that the node calls final, null if it has none. */
  final: BlockRef | null;
  /** The node's block at the height of the `known` one, null if it has none or none was asked for. */
  atKnown: BlockRef | null;
  /** Whether one node gave both answers, even behind a load balancer. */
  isOneAnswer: boolean;
}

/** The blocks of a poll, in order. `known` is a block that the node must still have. */
export function blocksToPoll(known: BlockRef | null): BlockId[] {
  return known === null ? [FINAL_TAG] : [FINAL_TAG, known.number];
}

/** The poll that the node answered with these blocks. */
export function pollFrom(
  blocks: readonly (BlockRef | null | undefined)[],
  isOneAnswer: boolean,
): FinalityPoll {
  const [final = null, atKnown = null] = blocks;
  return { final, atKnown, isOneAnswer };
}

/**
 * The highest block of an index that a poll proves final, null for none. `head` is the index's last block when the poll
 * began; `hashAt` reads the index now, because a reorg may have removed blocks meanwhile.
 */
export function finalInIndex(
  { final, atKnown, isOneAnswer }: FinalityPoll,
  head: BlockRef,
  hashAt: (number: number) => Hex | null,
): number | null {
  const isIndexed = ({ number, hash }: BlockRef): boolean => hashAt(number) === hash;
  if (final === null) return null;
  if (isIndexed(final)) return final.number;
  // The node's final block is above the index. Its chain contains the index's head if it has both.
  const isAbove = isOneAnswer && final.number > head.number;
  return isAbove && atKnown?.hash === head.hash && isIndexed(head) ? head.number : null;
}

/** What is known about the finality of the node's chain, without an index. Each event replaces the object. */
export type NodeFinality =
  /** No block is known to be final. */
  | { kind: 'unknown' }
  /** The node confirmed the highest block known to be final at time `at`. */
  | { kind: 'confirmed'; anchor: BlockRef; at: number }
  /** The node failed after it confirmed the block, and may be another node when it returns. */
  | { kind: 'unconfirmed'; anchor: BlockRef };

/** How long after a poll the node is trusted to be on the same chain, ms. A test chain may be replaced at any time. */
const TRUST_MS = 10_000;

/** The highest block known to be final, null for none. */
export function anchorOf(state: NodeFinality): BlockRef | null {
  return state.kind === 'unknown' ? null : state.anchor;
}

/** The highest block that counts as final now, or -1. `isDue`: poll again soon. */
export function finalNow(state: NodeFinality, now: number): { block: number; isDue: boolean } {
  if (state.kind !== 'confirmed') return { block: -1, isDue: true };
  const age = now - state.at;
  return { block: age <= TRUST_MS ? state.anchor.number : -1, isDue: age > TRUST_MS / 2 };
}

/**
 * The state after a poll that was begun in `state`. `replaced`: the node is on another chain than before. `unclear`: it
 * lacks the known block for now. `none`: it has no final block.
 */
export function afterPoll(
  state: NodeFinality,
  { final, atKnown }: FinalityPoll,
  now: number,
): NodeFinality | 'replaced' | 'unclear' | 'none' {
  const known = anchorOf(state);
  if (known !== null && atKnown === null) return 'unclear';
  if (known !== null && atKnown?.hash !== known.hash) return 'replaced';
  if (final === null) return 'none';
  const anchor = known === null || final.number > known.number ? final : known;
  return { kind: 'confirmed', anchor, at: now };
}

/** The state after the node failed: nothing counts as final until the next poll. Always another object. */
export function afterFailure(state: NodeFinality): NodeFinality {
  return state.kind === 'unknown' ? { ...state } : { kind: 'unconfirmed', anchor: state.anchor };
}

/** Whether a rollback to `to` removes the anchor. */
export function isAnchorRemoved(state: NodeFinality, to: number): boolean {
  const anchor = anchorOf(state);
  return anchor !== null && to < anchor.number;
}

/**
 * Whether an answer about `block` can never change: the block is final, and the node that answered calls it final too.
 * Another node's view proves nothing: the answering node may lag, or be on a branch that the others have left.
 */
export function isProvenFinal(block: number, final: number, answering: BlockRef | null): boolean {
  return answering !== null && isFinal(block, final) && isFinal(block, answering.number);
}
