/** Gaps: indexed blocks of which transfers are missing, because the node did not give their traces or their logs. */

/** What is missing. The position is the value of `block_gaps.kind`. */
export const GAP_KINDS = ['trace', 'log'] as const;
export type GapKind = (typeof GAP_KINDS)[number];

/** Consecutive blocks, `first` to `last`, that are gaps for the same reason. */
export interface BlockGap {
  kind: GapKind;
  first: number;
  last: number;
  /** In the node's words, without numbers and hashes, so that equal reasons are equal texts. */
  reason: string;
}

/** The reason for blocks that were read without traces, from a node without them or with `index.traces = false`. */
export const NOT_TRACED = 'indexed without traces';

/** Most reasons listed in GapTotals. */
export const MAX_GAP_REASONS = 5;

/** Why the node has not traced a block so far. The block may still be complete, or become a gap. */
export interface UnsettledGap {
  /** In the node's words. */
  message: string;
  /** Whether the node gave a reason for the block and for each missing transaction alone, not just no answer. */
  isReasoned: boolean;
  /** Whether the node traced some transactions of the block. */
  isPartial: boolean;
  /** Whether those without traces used no gas. */
  isIdle: boolean;
}

/** All gaps of a kind. */
export interface GapTotals {
  /** The first and the last such block; blocks in between may be complete. */
  first: number;
  last: number;
  /** How many there are. */
  blocks: number;
  /** The most frequent reasons, at most MAX_GAP_REASONS. */
  reasons: { reason: string; blocks: number }[];
}

/** The totals with one more gap, null for none. */
export function addGap(totals: GapTotals | null, { first, last, reason }: BlockGap): GapTotals {
  const blocks = last - first + 1;
  const reasons = (totals?.reasons ?? []).map((each) =>
    each.reason === reason ? { reason, blocks: each.blocks + blocks } : each,
  );
  if (reasons.length < MAX_GAP_REASONS && !reasons.some((each) => each.reason === reason))
    reasons.push({ reason, blocks });
  return {
    first: totals?.first ?? first,
    last,
    blocks: (totals?.blocks ?? 0) + blocks,
    reasons: reasons.sort((a, b) => b.blocks - a.blocks),
  };
}

/** Whether a block is a gap of any kind. */
export function isGap(gaps: readonly BlockGap[], block: number): boolean {
  return gaps.some(({ first, last }) => first <= block && block <= last);
}
