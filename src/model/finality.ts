/**
 * Which blocks are final, so that no reorg removes them. Every rule about it is here; other files ask. A chain's rule
 * follows from `chain.finality`, its id and the node's software. The indexer polls the node and, where a node calls
 * blocks finalized and that is proved, stores the highest indexed one as the index's anchor, which all readers of the
 * index use. The cache of `/rpc` depends on the node itself, so it asks again. No function here reads or writes.
 */

import type { Hex } from '../lib/hex.ts';
import { settingName } from '../lib/setting-name.ts';
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

// Rules

/**
 * How blocks become final. `tag`: the node calls them finalized, which counts once it is proved. `instant`: every block
 * that a node serves is final. `depth`: `index.max_reorg` blocks are above.
 */
export const FINALITY_RULES = ['tag', 'instant', 'depth'] as const;
export type FinalityRule = (typeof FINALITY_RULES)[number];

/** The rule of a chain and node. */
export interface ChainFinality {
  rule: FinalityRule;
  /** A local test node, which may be set back any number of blocks at any time. */
  isDevelopment: boolean;
  /** Why this rule, as a clause. */
  reason: string;
}

/** `chain.finality`. */
export type WantedFinality = 'auto' | FinalityRule;

/** The default chain ids of Hardhat, anvil and Ganache, and of `geth --dev`. */
const DEVELOPMENT_CHAINS: ReadonlySet<number> = new Set([31_337, 1_337]);

/** Names in `web3_clientVersion`. Hardhat and Ganache call their latest block finalized and then remove it. */
const DEVELOPMENT_SOFTWARE = /^(hardhat|anvil|ganache|ethereumjs testrpc|edr)/i;

/** Chains whose consensus commits a block before any node serves it. Most call their latest block finalized. */
const INSTANT_CHAINS: ReadonlySet<number> = new Set([
  ...[25, 338, 7_000, 7_001, 2_222, 2_221, 7_700, 9_000, 9_001, 11_235], // Cronos, ZetaChain, Kava, Canto, Evmos, Haqq
  ...[1_329, 1_328, 1_776, 1_439, 80_094, 80_069, 1_514], // Sei, Injective, Berachain, Story
  ...[23_294, 23_295, 42_262, 42_261], // Oasis Sapphire and Emerald
  ...[43_114, 43_113, 14, 19, 16, 114], // Avalanche C-Chain; Flare, Songbird, Coston and Coston2 on the same consensus
  ...[146, 250, 4_002], // Sonic, Fantom
  ...[8_217, 1_001, 295, 296, 4_689, 4_690], // Kaia, Hedera, IoTeX
]);

/** The rule for a chain and its node. */
export function finalityOf(
  wanted: WantedFinality,
  { chainId, client }: { chainId: number; client: string },
): ChainFinality {
  const development = DEVELOPMENT_SOFTWARE.test(client)
    ? `${client} is a development node`
    : DEVELOPMENT_CHAINS.has(chainId)
      ? `chain ${chainId} is a development chain`
      : null;
  const isDevelopment = development !== null && (wanted === 'auto' || wanted === 'depth');
  if (wanted !== 'auto')
    return { rule: wanted, isDevelopment, reason: `${settingName('chain.finality')} is "${wanted}"` };
  if (development !== null) return { rule: 'depth', isDevelopment, reason: development };
  if (INSTANT_CHAINS.has(chainId))
    return { rule: 'instant', isDevelopment, reason: `chain ${chainId} has instant finality` };
  return { rule: 'tag', isDevelopment, reason: 'the node calls blocks finalized' };
}

// The tag

/** What the polls so far showed of a node's tag. */
export interface TagProof {
  /** Successive polls, each with a higher head, that showed the final block below the head. */
  polls: number;
  /** The head of the last such poll. */
  head: number;
}

export const UNPROVED: TagProof = { polls: 0, head: -1 };

const PROOF_POLLS = 3;

/** Whether the node distinguishes its final block from its latest one. */
export function isProved({ polls }: TagProof): boolean {
  return polls >= PROOF_POLLS;
}

/**
 * The proof after a poll. A node whose final block is its latest one proves nothing, and neither does a tag and a head
 * from two nodes. Block 0 counts as no final block: nodes without a consensus client answer with it.
 */
export function afterTagPoll(proof: TagProof, { head, final, isOneAnswer }: FinalityPoll): TagProof {
  if (isProved(proof) || head === null || final === null || final.number === 0) return proof;
  if (final.number >= head.number) return UNPROVED;
  if (!isOneAnswer || head.number <= proof.head) return proof;
  return { polls: proof.polls + 1, head: head.number };
}

/** The rule that holds now. */
export function ruleNow(rule: FinalityRule, proof: TagProof): FinalityRule {
  return rule === 'tag' && !isProved(proof) ? 'depth' : rule;
}

/** The rule that holds now, and the clause that explains it. */
export interface FinalityNow {
  rule: FinalityRule;
  reason: string;
}

export function explainRule(
  { rule, reason }: ChainFinality,
  proof: TagProof,
  poll: FinalityPoll | null,
): FinalityNow {
  if (rule !== 'tag' || isProved(proof)) return { rule, reason };
  const depth = (why: string): FinalityNow => ({ rule: 'depth', reason: why });
  if (poll === null) return depth('the node has not been asked for its finalized block yet');
  if (poll.final === null || poll.final.number === 0) return depth('the node calls no block finalized');
  return depth(
    `the node has shown its finalized block below its latest one in ${proof.polls} of ${PROOF_POLLS} successive polls`,
  );
}

/** The blocks whose headers show what is final by a rule. One node must give them all, in one answer. */
export function tagsToAsk(rule: FinalityRule): readonly HeadTag[] {
  return rule === 'tag' ? ['latest', FINAL_TAG] : ['latest'];
}

/**
 * The highest final block by what a node answered to `tagsToAsk`; negative for none. A node may name a finalized block
 * that it does not have yet, or cut an answer at its head.
 */
export function finalShown(
  rule: FinalityRule,
  [head, final]: readonly (BlockRef | null | undefined)[],
  maxReorg: number,
): number {
  if (!head) return -1;
  switch (rule) {
    case 'tag':
      return final ? Math.min(final.number, head.number) : -1;
    case 'instant':
      return head.number;
    case 'depth':
      return head.number - maxReorg;
  }
}

/** Whether an index has final blocks only. On a development node the depth is a guess. */
export function holdsFinalOnly(
  head: HeadTag,
  { rule, isDevelopment }: Pick<ChainFinality, 'rule' | 'isDevelopment'>,
  isTagProved: boolean,
): boolean {
  if (rule === 'instant') return true;
  return head === FINAL_TAG && !isDevelopment && (rule === 'depth' || isTagProved);
}

/** The node's tag for the head to follow; `isBelow`: the index follows the block `index.max_reorg` below. */
export function followedHead(head: HeadTag, rule: FinalityRule): { tag: HeadTag; isBelow: boolean } {
  if (head !== FINAL_TAG || rule === 'tag') return { tag: head, isBelow: false };
  return { tag: 'latest', isBelow: rule === 'depth' };
}

/** Whether the index follows the highest final block. */
export function followsFinal(head: HeadTag): boolean {
  return head === FINAL_TAG;
}

/** Whether a block is final when `final` is the highest known final block (null or negative for none). */
export function isFinal(block: number, final: number | null): boolean {
  return final !== null && block <= final;
}

/** Whether any block is known to be final. */
export function hasFinal(final: number | null): boolean {
  return isFinal(0, final);
}

/**
 * The highest final block of an index that ends at `head`; null for none. The anchor is null where no tag is proved:
 * then the depth decides.
 */
export function finalOfIndex({
  anchor,
  head,
  maxReorg,
}: {
  anchor: number | null;
  head: number;
  maxReorg: number;
}): number | null {
  if (anchor !== null) return anchor;
  return head < maxReorg ? null : head - maxReorg;
}

// Reorgs

/** `index.max_reorg` unless the operator sets it. */
export const DEFAULT_MAX_REORG = 128;

/**
 * The most blocks that one reorg may remove. Test suites set a development node back any number of blocks, so there
 * only an operator's own limit counts.
 */
export function reorgLimit(
  { isDevelopment }: Pick<ChainFinality, 'isDevelopment'>,
  maxReorg: number,
): number {
  return isDevelopment && maxReorg === DEFAULT_MAX_REORG ? Number.POSITIVE_INFINITY : maxReorg;
}

/** What limits the reorgs of an index. */
export interface ReorgLimits {
  /** Whether every block of the index is final. */
  isAllFinal: boolean;
  /** The anchor. */
  finalized: number | null;
  /** Most blocks that one reorg may remove. */
  maxReorg: number;
}

/** Why a reorg may not remove the blocks above `to` from an index of this height; null if it may. */
export function reorgRefusal(
  { isAllFinal, finalized, maxReorg }: ReorgLimits,
  { to, height }: { to: number; height: number },
): 'reorg_below_finalized' | 'reorg_too_deep' | null {
  if (isAllFinal || isFinal(to + 1, finalized)) return 'reorg_below_finalized';
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

/** What one poll of the node showed. Null for a block that the node does not have, or that was not asked for. */
export interface FinalityPoll {
  head: BlockRef | null;
  /** The block that the node calls final. */
  final: BlockRef | null;
  /** The node's blocks at the heights asked for, in that order. */
  at: readonly (BlockRef | null)[];
  /** Whether one node gave all answers, even behind a load balancer. */
  isOneAnswer: boolean;
}

/**
 * The blocks of a poll, in order. The head comes first: a node that calls its latest block final and gets a new one
 * between the two answers then shows the final block above the head, which proves nothing, and not below it.
 */
export function blocksToPoll(rule: FinalityRule, heights: readonly number[]): BlockId[] {
  return [...tagsToAsk(rule), ...heights];
}

/** The poll that the node answered with these blocks. */
export function pollFrom(
  rule: FinalityRule,
  blocks: readonly (BlockRef | null)[],
  isOneAnswer: boolean,
): FinalityPoll {
  const tags = tagsToAsk(rule).length;
  const [head = null, final = null] = blocks.slice(0, tags);
  return { head, final, at: blocks.slice(tags), isOneAnswer };
}

/** The final block of a node, as far as the node has it. */
function finalOfNode({ head, final }: FinalityPoll): BlockRef | null {
  return head === null || final === null || final.number <= head.number ? final : head;
}

/**
 * The highest block of an index that a poll by the tag shows to be final, null for none. `head` is the index's last
 * block when the poll began, and the height asked for; `hashAt` reads the index now, because a reorg may have removed
 * blocks meanwhile.
 */
export function finalInIndex(
  poll: FinalityPoll,
  head: BlockRef,
  hashAt: (number: number) => Hex | null,
): number | null {
  const isIndexed = ({ number, hash }: BlockRef): boolean => hashAt(number) === hash;
  const final = finalOfNode(poll);
  const [atHead] = poll.at;
  if (final === null || poll.head === null) return null;
  if (final === poll.head && !poll.isOneAnswer) return null;
  if (isIndexed(final)) return final.number;
  // The node's final block is above the index. Its chain contains the index's head if it has both.
  const isAbove = poll.isOneAnswer && final.number > head.number;
  return isAbove && atHead?.hash === head.hash && isIndexed(head) ? head.number : null;
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

/** What a poll showed of the node's final block by the rule that holds now, without an index. */
export interface NodePoll {
  /** The node's highest final block, null for none. */
  final: BlockRef | null;
  /** The node's block at the height of the known final one. */
  atKnown: BlockRef | null;
}

/** `below`: the height `maxReorg` below the head of the poll before, null for none; it is the last height asked for. */
export function nodePoll(
  rule: FinalityRule,
  poll: FinalityPoll,
  { known, below, maxReorg }: { known: BlockRef | null; below: number | null; maxReorg: number },
): NodePoll {
  const atKnown = known === null ? null : (poll.at[0] ?? null);
  const highest = finalShown(rule, [poll.head, poll.final], maxReorg);
  const atBelow = below !== null && isFinal(below, highest) ? (poll.at.at(-1) ?? null) : null;
  const final = { tag: finalOfNode(poll), instant: poll.head, depth: atBelow }[rule];
  return { final: hasFinal(highest) ? final : null, atKnown };
}

/**
 * The state after a poll that was begun in `state`. `replaced`: the node is on another chain than before. `unclear`: it
 * lacks the known block for now. `none`: it has no final block.
 */
export function afterPoll(
  state: NodeFinality,
  { final, atKnown }: NodePoll,
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
 * Whether an answer about `block` can never change: the block is final, and by the node that answered (`shown`) as
 * well. Another node's view proves nothing: the answering node may lag, or be on a branch that the others have left.
 */
export function isProvenFinal(block: number, final: number, shown: number): boolean {
  return isFinal(block, final) && isFinal(block, shown);
}
