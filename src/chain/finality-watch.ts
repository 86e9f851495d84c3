/**
 * Polls the node for what is final, without an index, and notices when the node is on another chain. All times are from
 * performance.now().
 */
import type { BlockRef } from '../model/block.ts';
import {
  afterFailure,
  afterPoll,
  afterTagPoll,
  anchorOf,
  type FinalityPoll,
  type FinalityRule,
  finalNow,
  finalShown,
  type HeadTag,
  isAnchorRemoved,
  isFinal,
  type NodeFinality,
  nodePoll,
  ruleNow,
  tagsToAsk,
  UNPROVED,
} from '../model/finality.ts';

/** Asks the node for the blocks that the rule needs, and for those at the heights. Rejects with UpstreamError. */
type PollNode = (rule: FinalityRule, heights: readonly number[]) => Promise<FinalityPoll>;

/** Milliseconds between polls while a block's finality is awaited, and after a poll without a result. */
const POLL_MS = 200;
const RETRY_MS = 5_000;

/** The blocks that an answer must come with to be proven final, and how they prove it. */
export interface AnswerProof {
  tags: readonly HeadTag[];
  /** The highest final block by the headers of these blocks, from the answering node; negative for none. */
  finalIn(headers: readonly (BlockRef | null)[]): number;
}

export class FinalityWatch {
  private readonly pollNode: PollNode;
  private readonly maxReorg: number;
  private readonly listeners: (() => void)[] = [];
  /** Null until the node's chain is known. */
  private rule: FinalityRule | null = null;
  private ofNode = '';
  private proof = UNPROVED;
  /** The height `maxReorg` below the last known head, null for none. */
  private below: number | null = null;
  private state: NodeFinality = { kind: 'unknown' };
  private nextPollAt = 0;
  private isPolling = false;

  /** `maxReorg` is `index.max_reorg`. */
  constructor(pollNode: PollNode, maxReorg: number) {
    this.pollNode = pollNode;
    this.maxReorg = maxReorg;
  }

  /** Calls the listener when the node turns out to be on another chain than before. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Sets the rule of the node's chain. What is known of another rule or node (`ofNode`) is forgotten. */
  setRule(rule: FinalityRule, ofNode: string): void {
    if (rule === this.rule && ofNode === this.ofNode) return;
    const isFirst = this.rule === null;
    this.rule = rule;
    this.ofNode = ofNode;
    this.proof = UNPROVED;
    this.nextPollAt = 0;
    if (!isFirst) this.reset();
  }

  /** The highest block known to be final, or -1. */
  finalizedNumber(now: number): number {
    const { block, isDue } = finalNow(this.state, now);
    if (isDue) this.poll(now);
    return block;
  }

  /** What proves an answer final now. */
  answerProof(): AnswerProof {
    const { rule, proof, maxReorg } = this;
    const holding = ruleNow(rule ?? 'tag', proof);
    return {
      tags: tagsToAsk(holding),
      finalIn: (headers) => (rule === null ? -1 : finalShown(holding, headers, maxReorg)),
    };
  }

  /** A call could be cached if this block were final: check whether it now is. */
  pollIfAbove(block: number, now: number): void {
    if (!isFinal(block, anchorOf(this.state)?.number ?? null)) this.poll(now);
  }

  /** The node failed: nothing counts as final until the next poll. Ignores a poll in flight. */
  invalidate(): void {
    this.state = afterFailure(this.state);
  }

  /** The index was rolled back: the blocks above `to` are no longer on the chain. */
  rolledBack(to: number): void {
    if (isAnchorRemoved(this.state, to)) this.reset();
  }

  /** The chain was rewritten. */
  reset(): void {
    this.state = { kind: 'unknown' };
    this.below = null;
    for (const listener of this.listeners) listener();
  }

  private poll(now: number): void {
    const { rule } = this;
    if (rule === null || this.isPolling || now < this.nextPollAt) return;
    this.isPolling = true;
    this.nextPollAt = now + POLL_MS;
    this.refresh(rule, now)
      .catch(() => {
        // Nothing learnt: what was confirmed stays trusted for its time.
        this.nextPollAt = now + RETRY_MS;
      })
      .finally(() => {
        this.isPolling = false;
      });
  }

  private async refresh(rule: FinalityRule, now: number): Promise<void> {
    const { state, below, proof, maxReorg } = this;
    const known = anchorOf(state);
    const heights = [known?.number, below].filter((height) => typeof height === 'number');
    const poll = await this.pollNode(rule, heights);
    // The answers may concern another node or chain than the current state.
    if (state !== this.state) return;
    this.proof = afterTagPoll(proof, poll);
    this.below = poll.head !== null && poll.head.number >= maxReorg ? poll.head.number - maxReorg : null;
    const shown = nodePoll(ruleNow(rule, this.proof), poll, { known, below, maxReorg });
    const next = afterPoll(state, shown, now);
    if (next === 'replaced') this.reset();
    else if (next === 'none' && proof === this.proof && below === this.below)
      this.nextPollAt = now + RETRY_MS;
    else if (typeof next === 'object') this.state = next;
  }
}
