/** The indexer's reports: its status, and the work done since the last report. */

import { RepeatLimit } from '../lib/limits.ts';
import { preciseNow } from '../lib/time.ts';
import type { IndexedBlock } from '../model/block.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { addGap, type GapTotals } from '../model/block-gap.ts';
import type { RulesStatus } from '../model/index-rules.ts';
import { type Capabilities, type IndexStatus, lagBlocks, type NodeChain } from '../model/index-status.ts';
import { NOTHING_SKIPPED, type SkippedTotals } from '../model/skipped-logs.ts';
import type { Tip } from '../store/chain.ts';
import type { IndexWriter } from '../store/index-writer.ts';
import type { MetricsDelta } from './protocol.ts';

/** Windows of the displayed rates and of the ETA, milliseconds. */
const RATE_WINDOW_MS = 10_000;
const ETA_WINDOW_MS = 60_000;

/** Shortest time between equal log lines about the node's chain, milliseconds. */
const CHAIN_LOG_MS = 60_000;

/** Shortest time span of a rate. Without it, the first commits after the start would show an exaggerated rate. */
const MIN_SPAN_MS = 1_000;

/** The rate is 0 if the last commit is older than this, milliseconds. */
const OLDEST_SAMPLE_MS = 120_000;

/** A commit, or the start. */
interface Sample {
  /** performance.now() */
  at: number;
  blocks: number;
  transfers: number;
}

/** The contents of the index. */
interface IndexContents {
  head: Tip | null;
  untraced: GapTotals | null;
  logGaps: GapTotals | null;
  /** Null to keep what is known. */
  skipped: SkippedTotals | null;
}

export function readContents(store: Pick<IndexWriter, 'head' | 'gaps' | 'skippedLogs'>): IndexContents {
  return {
    head: store.head(),
    untraced: store.gaps('trace'),
    logGaps: store.gaps('log'),
    skipped: store.skippedLogs(),
  };
}

export class Progress {
  private readonly current = initialStatus();
  private delta = emptyDelta();
  private samples: Sample[] = [{ at: performance.now(), blocks: 0, transfers: 0 }];
  private readonly readyLag: number;
  /** Rate-limits log lines about the node's chain: a load balancer over two chains would cause one per call. */
  readonly chainLog = new RepeatLimit(CHAIN_LOG_MS);

  constructor(readyLag: number) {
    this.readyLag = readyLag;
  }

  /** The current status. Its rates come from the last report. */
  get status(): Readonly<IndexStatus> {
    return this.current;
  }

  setContents({ head, untraced, logGaps, skipped }: IndexContents): void {
    this.current.transfers = head?.lastTransfer ?? 0;
    this.current.untraced = untraced;
    this.current.logGaps = logGaps;
    this.setSkipped(skipped);
    this.setHead(head);
    this.setPhase();
  }

  setSkipped(skipped: SkippedTotals | null): void {
    Object.assign(this.current, skipped);
  }

  setCapabilities(capabilities: Capabilities): void {
    this.current.capabilities = capabilities;
    this.current.reason = null;
  }

  /** Sets the first block of the index; null before it is chosen. */
  setStartBlock(startBlock: number | null): void {
    this.current.startBlock = startBlock;
  }

  /** Sets the rules of the index. Returns the previous ones, null at first. */
  setRules(rules: RulesStatus): RulesStatus | null {
    const previous = this.current.rules;
    this.current.rules = rules;
    return previous;
  }

  /** Sets how the node's chain relates to the index. Returns the previous value. */
  setNodeChain(chain: NodeChain): NodeChain {
    const previous = this.current.nodeChain;
    this.current.nodeChain = chain;
    return previous;
  }

  setFinality(finality: NonNullable<IndexStatus['finality']>): void {
    this.current.finality = finality;
  }

  /** Sets why headers are not verified; null if they are. Returns the previous reason. */
  setUnprovenHeaders(reason: string | null): string | null {
    const previous = this.current.unprovenHeaders;
    this.current.unprovenHeaders = reason;
    return previous;
  }

  /** Sets what is not checked on this chain, and why. */
  setUnchecked(text: string): void {
    this.current.unchecked = text;
  }

  /** Blocks that the index has and the node lacks; 0 if so few that the node may be only momentarily behind. */
  get blocksAhead(): number {
    const { head, nodeHead } = this.current;
    const ahead = head === null || nodeHead === null ? 0 : head.number - nodeHead;
    return ahead > this.readyLag ? ahead : 0;
  }

  setNodeHead(number: number): void {
    this.current.nodeHead = number;
    this.setPhase();
  }

  /** Sets why indexing is paused; null when it resumes. Returns the previous reason. */
  setPauseReason(reason: string | null): string | null {
    const previous = this.current.reason;
    this.current.reason = reason;
    if (this.current.capabilities !== null) this.setPhase();
    return previous;
  }

  /** Marks indexing as stopped, whatever the node says. */
  setStopped(reason: string): void {
    this.current.reason = reason;
    this.current.phase = 'paused';
  }

  /** Sets what is still incomplete. */
  setDerived(incomplete: IndexStatus['derived']): void {
    this.current.derived = incomplete;
    if (!incomplete.some(({ name }) => name === 'new_trade_sums')) this.current.tradeChanges = [];
  }

  /** Sets which contracts will count otherwise in trades. */
  setTradeChanges(changes: string[]): void {
    this.current.tradeChanges = changes;
  }

  recordCommit(batches: readonly BlockBatch[], head: IndexedBlock, seconds: number): void {
    let blocks = 0;
    let transfers = 0;
    for (const batch of batches) {
      blocks += batch.blockCount;
      for (const gap of batch.gaps) {
        const name = gap.kind === 'trace' ? 'untraced' : 'logGaps';
        this.current[name] = addGap(this.current[name], gap);
      }
      this.delta.renumbered += batch.renumbered;
      transfers += batch.transferCount;
      for (const kind of batch.kind) this.delta.transfers[kind] = (this.delta.transfers[kind] ?? 0) + 1;
      for (const { reason, contract, logs } of batch.skipped)
        if (contract === null) this.delta.skippedLogs[reason] = (this.delta.skippedLogs[reason] ?? 0) + logs;
    }
    this.delta.blocks += blocks;
    this.delta.commitSeconds.push(seconds);
    this.samples.push({ at: performance.now(), blocks, transfers });
    this.current.transfers += transfers;
    this.current.lastCommitAt = preciseNow();
    this.setHead(head);
    this.setPhase();
  }

  recordRollback(depth: number): void {
    this.delta.rollbacks.push(depth);
    this.current.reorgs++;
    this.current.deepestReorg = Math.max(this.current.deepestReorg, depth);
  }

  /** The current status, and the work since the last call. */
  takeReport(): { status: IndexStatus; delta: Omit<MetricsDelta, 'calls'> } {
    this.updateRates();
    const delta = this.delta;
    this.delta = emptyDelta();
    return { status: this.current, delta };
  }

  private setHead(head: IndexedBlock | null): void {
    this.current.head = head === null ? null : { number: head.number, hash: head.hash };
    this.current.headTimestamp = head?.timestamp ?? null;
  }

  private setPhase(): void {
    const lag = lagBlocks(this.current);
    if (this.current.reason !== null) this.current.phase = 'paused';
    else if (lag === null) this.current.phase = 'starting';
    else this.current.phase = lag > this.readyLag ? 'backfilling' : 'following';
  }

  private updateRates(): void {
    const now = performance.now();
    const oldest = this.samples.findLastIndex(({ at }) => at <= now - OLDEST_SAMPLE_MS);
    this.samples = this.samples.slice(Math.max(0, oldest));
    const rate = perSecond(this.samples, RATE_WINDOW_MS, now);
    this.current.blocksPerSecond = rate.blocks;
    this.current.transfersPerSecond = rate.transfers;
    this.current.blocksPerSecondLastMinute = perSecond(this.samples, ETA_WINDOW_MS, now).blocks;
  }
}

/**
 * The work per second over about the last `windowMs`. The span starts and ends at a commit and contains at least the
 * last one, so that the rate does not jump if commits are further apart than the window. The rate falls once the next
 * commit is overdue.
 */
function perSecond(
  samples: readonly Sample[],
  windowMs: number,
  now: number,
): { blocks: number; transfers: number } {
  const [previous, last] = samples.slice(-2);
  if (previous === undefined || last === undefined || last.at <= now - OLDEST_SAMPLE_MS)
    return { blocks: 0, transfers: 0 };
  const beforeWindow = samples.findLastIndex(({ at }) => at <= now - windowMs);
  const first = Math.max(0, Math.min(beforeWindow, samples.length - 2));
  const end = Math.max(last.at, now - (last.at - previous.at));
  const seconds = Math.max(MIN_SPAN_MS, end - (samples[first] ?? previous).at) / 1000;
  const sum = (of: 'blocks' | 'transfers') =>
    samples.slice(first + 1).reduce((total, sample) => total + sample[of], 0);
  return { blocks: sum('blocks') / seconds, transfers: sum('transfers') / seconds };
}

function emptyDelta(): Omit<MetricsDelta, 'calls'> {
  return { blocks: 0, transfers: [], renumbered: 0, skippedLogs: {}, rollbacks: [], commitSeconds: [] };
}

/** The status at the start. */
export function initialStatus(): IndexStatus {
  return {
    phase: 'starting',
    reason: null,
    readFailure: null,
    nodeChain: 'unchecked',
    finality: null,
    unprovenHeaders: null,
    unchecked: null,
    nodes: [],
    startBlock: null,
    rules: null,
    head: null,
    headTimestamp: null,
    nodeHead: null,
    blocksPerSecond: 0,
    transfersPerSecond: 0,
    blocksPerSecondLastMinute: 0,
    transfers: 0,
    capabilities: null,
    untraced: null,
    logGaps: null,
    derived: [],
    tradeChanges: [],
    ...NOTHING_SKIPPED,
    startedAt: Date.now(),
    reorgs: 0,
    deepestReorg: 0,
    lastCommitAt: null,
  };
}
