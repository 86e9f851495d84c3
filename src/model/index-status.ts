/** The indexer's view of the nodes and of its own progress, with derived figures: lag, age, trace gaps. */
import type { BlockRef } from './block.ts';
import { type GapTotals, NOT_TRACED } from './block-gap.ts';
import type { FinalityNow, HeadTag } from './finality.ts';
import type { RulesStatus } from './index-rules.ts';
import type { SkippedTotals } from './skipped-logs.ts';

/** The node's capabilities that matter to the index; shown by `/status`. */
export interface Capabilities {
  client: string;
  chainId: number;
  /** The method that provides internal native transfers; if null, `tracesReason` says why. */
  traces: 'debug_traceBlockByHash' | 'debug_traceBlockByNumber' | 'trace_block' | null;
  tracesReason: string | null;
  blockReceipts: boolean;
  /** The head tag that the index follows: `finalized` never rolls back, `latest` may. */
  headTag: HeadTag;
}

/** Why the index does not follow the node's chain. */
export type ChainMismatch = 'another_chain' | 'reorg_too_deep' | 'reorg_below_finalized';

/**
 * How the node's chain relates to the index. `unchecked`: not compared since startup. `same`: the index follows it.
 * `behind`: its head is below the index's. For any other value, indexing is paused until the node agrees with the index
 * again.
 */
export type NodeChain = 'unchecked' | 'same' | 'behind' | ChainMismatch;

/** The state of the indexer as its thread last reported it. */
export interface IndexStatus extends SkippedTotals {
  /** starting: no node answer yet; backfilling: far behind the head; following: at the head; paused: see `reason`. */
  phase: 'starting' | 'backfilling' | 'following' | 'paused';
  /** Why the indexer makes no progress (node unreachable, disk full, ...); null if it does. */
  reason: string | null;
  /** The unreadable part of the index, with advice; null while reads succeed. Other requests are served. */
  readFailure: string | null;
  nodeChain: NodeChain;
  /** The rule by which blocks are final now, and the highest final one; null while unknown. */
  finality: (FinalityNow & { block: number | null }) | null;
  /** Why the node's headers are not verified; null if its newest one hashes to its own hash, or while unknown. */
  unprovenHeaders: string | null;
  /** What is not checked on this chain, and why; null if nothing. */
  unchecked: string | null;
  /** The configured nodes; empty for a single one. */
  nodes: NodeStatus[];
  startBlock: number | null;
  /** What counts as a transfer in the index, null while unknown. */
  rules: RulesStatus | null;
  /** Last committed block, null while the index is empty. */
  head: BlockRef | null;
  headTimestamp: number | null;
  /** The node's head for the followed tag, null while unknown. */
  nodeHead: number | null;
  /** Rates over the last ten seconds, or over the last commits if those are further apart. */
  blocksPerSecond: number;
  transfersPerSecond: number;
  /** Blocks per second over the last minute, for a steady ETA. */
  blocksPerSecondLastMinute: number;
  /** Transfers in the index. */
  transfers: number;
  capabilities: Capabilities | null;
  /** Trace gaps: blocks that lack internal transfers; null when there are none. */
  untraced: GapTotals | null;
  /** Log gaps: blocks stored although the answers about them were incomplete; null when there are none. */
  logGaps: GapTotals | null;
  /**
   * What an index of an earlier release, or one with other lists of trades, still gets, with the transfer up to which
   * it is complete, 0 for none; empty otherwise.
   */
  derived: {
    name: 'token_history' | 'token_mints' | 'trade_sums' | 'new_trade_sums';
    lastTransfer: number;
  }[];
  /**
   * What trades are told by in other ways once the sums of trades by the newest lists are complete, one line each;
   * empty when they are.
   */
  tradeChanges: string[];
  /** Unix milliseconds of the daemon's start. The counts below cover the time since then. */
  startedAt: number;
  reorgs: number;
  deepestReorg: number;
  /** Unix milliseconds of the last commit, null before the first one since startup. */
  lastCommitAt: number | null;
}

/** Whether the index has all internal transfers and will get new ones; if not, why; null if unknown. */
export function internalTransfers({
  capabilities,
  untraced,
  head,
}: Pick<IndexStatus, 'capabilities' | 'untraced' | 'head'>): {
  complete: boolean | null;
  reason: string | null;
} {
  const missing = untraced ? traceGapsText(untraced) : null;
  if (capabilities !== null && capabilities.traces === null) {
    const reason = capabilities.tracesReason ?? 'the node offers no traces';
    return { complete: false, reason: missing === null ? reason : `${reason}; ${missing}` };
  }
  if (untraced) return { complete: false, reason: `${missing}; ${traceGapsAdvice(untraced, head)}` };
  return { complete: capabilities === null ? null : true, reason: null };
}

/** Such as "blocks 20 to 39 were indexed without traces", or with the node's reasons. */
export function traceGapsText({ first, last, blocks, reasons }: GapTotals): string {
  const isOne = first === last;
  const some = blocks < last - first + 1 ? `${blocks} of the ` : '';
  const subject = isOne ? `block ${first}` : `${some}blocks ${first} to ${last}`;
  if (reasons.every(({ reason }) => reason === NOT_TRACED))
    return `${subject} ${isOne ? 'was' : 'were'} indexed without traces`;
  const texts = reasons.map((each) =>
    blocks === each.blocks ? each.reason : `${each.reason} (${each.blocks})`,
  );
  return `${subject} ${isOne ? 'lacks' : 'lack'} internal transfers: ${texts.join(', ')}`;
}

/** Such as "block 20 is stored although incomplete: logs are missing: their numbers have holes". */
export function logGapsText({ first, last, blocks, reasons }: GapTotals): string {
  const isOne = first === last;
  const some = blocks < last - first + 1 ? `${blocks} of the ` : '';
  const subject = isOne ? `block ${first} is` : `${some}blocks ${first} to ${last} are`;
  return `${subject} stored although incomplete: ${reasons.map(({ reason }) => reason).join(', ')}`;
}

/** How to read log gaps again, and what it costs. */
export function logGapsAdvice({ first, last }: GapTotals, head: Pick<BlockRef, 'number'> | null): string {
  const again = head === null ? '' : `, which indexes ${head.number - first + 1} blocks again`;
  return (
    'to read them from a node that has all logs, stop the daemon and run "atlas-node verify --repair ' +
    `${first}..${last}"${again}`
  );
}

/** How to add the missing internal transfers, and what it costs. */
export function traceGapsAdvice({ first, last }: GapTotals, head: BlockRef | null): string {
  const again = head === null ? '' : `, which indexes ${head.number - first + 1} blocks again`;
  return (
    'to add their internal transfers from a node that traces them, stop the daemon and run "atlas-node ' +
    `verify --repair ${first}..${last}"${again}`
  );
}

/** Blocks that the node has and the index lacks; null while either head is unknown. */
export function lagBlocks({
  head,
  nodeHead,
  startBlock,
}: Pick<IndexStatus, 'head' | 'nodeHead' | 'startBlock'>): number | null {
  if (nodeHead === null) return null;
  const indexed = head?.number ?? (startBlock === null ? null : startBlock - 1);
  return indexed === null ? null : Math.max(0, nodeHead - indexed);
}

/** Blocks that a rebuild by other rules would read again; null when the rules are the newest, or unknown. */
export function rebuildBlocks({
  rules,
  head,
  startBlock,
}: Pick<IndexStatus, 'rules' | 'head' | 'startBlock'>): number | null {
  if (rules === null || rules.changes.length === 0) return null;
  return head === null || startBlock === null ? 0 : head.number - startBlock + 1;
}

/** Age of the last indexed block at `now` (Unix milliseconds), seconds; null while the index is empty. */
export function lagSeconds(
  { headTimestamp }: Pick<IndexStatus, 'headTimestamp'>,
  now: number,
): number | null {
  return headTimestamp === null ? null : Math.max(0, now / 1000 - headTimestamp);
}

/**
 * Whether the chain has stalled: the index is at the node's head, and that block is older than `staleSeconds`. During a
 * backfill the newest indexed block is old for another reason. 0 turns the check off.
 */
export function isStale(
  status: Pick<IndexStatus, 'phase' | 'headTimestamp'>,
  staleSeconds: number,
  now: number,
): boolean {
  const age = lagSeconds(status, now);
  return staleSeconds > 0 && status.phase === 'following' && age !== null && age > staleSeconds;
}

/** Clocks of machines and chains differ by less, seconds. */
const MIN_FUTURE_SECONDS = 60;

/**
 * Whether the newest block is from the future by as much as makes an old one stale. Then this machine's clock is
 * behind, or the chain's ahead, and age proves nothing. 0 turns the check off.
 */
export function isFromFuture(
  { phase, headTimestamp }: Pick<IndexStatus, 'phase' | 'headTimestamp'>,
  staleSeconds: number,
  now: number,
): boolean {
  if (staleSeconds === 0 || phase !== 'following' || headTimestamp === null) return false;
  return headTimestamp - now / 1000 > Math.max(staleSeconds, MIN_FUTURE_SECONDS);
}

/** Seconds to reach the node's head at the rate of the last minute; null when the rate is zero. */
export function etaSeconds(status: IndexStatus): number | null {
  const lag = lagBlocks(status);
  if (lag === 0) return 0;
  const { blocksPerSecondLastMinute: rate } = status;
  return lag === null || rate <= 0 ? null : lag / rate;
}

/**
 * `unchecked`: not queried yet. `healthy`: may be used. `recovering`: answers again; healthy after a quiet period.
 * `behind`: its head is well below that of another node. `failing`: gives no usable answer in time. `another_chain`,
 * `another_fork`: its blocks differ from those of the index, so it is rejected.
 */
export type NodeHealth =
  | 'unchecked'
  | 'healthy'
  | 'recovering'
  | 'behind'
  | 'failing'
  | 'another_chain'
  | 'another_fork';

export interface NodeStatus {
  /** Position in `node_http`, from 1. */
  node: number;
  /** Scheme, host and port; null where the reader may not see it. */
  address: string | null;
  /** Whether index, streams and `/rpc` use this node now. */
  current: boolean;
  state: NodeHealth;
  /** Why the node is not healthy; null if it is. */
  reason: string | null;
  /** Its newest block, null while unknown. */
  head: number | null;
  /** Response time of its last check, milliseconds; null while unknown. */
  latencyMs: number | null;
  /** Failed checks since the daemon started. */
  failures: number;
}
