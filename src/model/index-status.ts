/** What the indexer knows about the node and its own progress, and what follows from it: lag, age, trace gaps. */
import type { ChainMismatch } from '../lib/errors.ts';
import type { BlockRef } from './block.ts';

/** What the index can and cannot know with this node; shown by `/status`. */
export interface Capabilities {
  client: string;
  chainId: number;
  /** Source of internal native transfers; when null, `tracesReason` says why. */
  traces: 'debug_traceBlockByHash' | 'debug_traceBlockByNumber' | 'trace_block' | null;
  tracesReason: string | null;
  blockReceipts: boolean;
  /** Which block the index follows: `finalized` never rolls back, `latest` may. */
  headTag: 'finalized' | 'latest';
}

/** The blocks that were indexed without traces and so lack their internal transfers. */
export interface TraceGaps {
  /** The first and the last of them; blocks in between may have traces. */
  first: number;
  last: number;
  /** How many. */
  blocks: number;
}

/**
 * How the node's chain relates to the index. `unchecked`: not compared since the start; `same`: the index follows it;
 * `behind`: its head is below the index's; all others: the index stands still until the node agrees with it again.
 */
export type NodeChain = 'unchecked' | 'same' | 'behind' | ChainMismatch;

/** The state of the indexer as the writer thread last reported it. */
export interface IndexStatus {
  /** starting: no node answer yet; backfilling: far behind the head; following: at the head; paused: see `reason`. */
  phase: 'starting' | 'backfilling' | 'following' | 'paused';
  /** Why the indexer makes no progress (node unreachable, disk full, ...), or null. */
  reason: string | null;
  /** What of the index cannot be read, and what to do about it; null when reads succeed. Other requests are served. */
  readFailure: string | null;
  nodeChain: NodeChain;
  startBlock: number | null;
  /** Last committed block, null while the index is empty. */
  head: BlockRef | null;
  headTimestamp: number | null;
  /** The node's own head for the followed tag, null while unknown. */
  nodeHead: number | null;
  /** Rates over the last ten seconds. */
  blocksPerSecond: number;
  transfersPerSecond: number;
  /** Transfers in the index. */
  transfers: number;
  capabilities: Capabilities | null;
  /** Blocks that lack their internal transfers, null when there are none. */
  untraced: TraceGaps | null;
  /** When this run began, Unix milliseconds. The figures below cover this run only. */
  startedAt: number;
  /** Malformed logs skipped, by reason. */
  skippedLogs: Record<string, number>;
  reorgs: number;
  deepestReorg: number;
  /** Unix milliseconds of the last commit of this run, null before the first. */
  lastCommitAt: number | null;
}

/** Whether the index has the internal transfers of all its blocks and will have new ones, else why not; null if unknown. */
export function internalTransfers({
  capabilities,
  untraced,
}: Pick<IndexStatus, 'capabilities' | 'untraced'>): { complete: boolean | null; reason: string | null } {
  const missing = untraced ? traceGapsText(untraced) : null;
  if (capabilities !== null && capabilities.traces === null) {
    const reason = capabilities.tracesReason ?? 'the node offers no traces';
    return { complete: false, reason: missing === null ? reason : `${reason}; ${missing}` };
  }
  if (untraced) return { complete: false, reason: `${missing}; ${traceGapsAdvice(untraced)}` };
  return { complete: capabilities === null ? null : true, reason: null };
}

/** Such as "blocks 20 to 39 were indexed without traces". */
export function traceGapsText({ first, last, blocks }: TraceGaps): string {
  if (first === last) return `block ${first} was indexed without traces`;
  const some = blocks < last - first + 1 ? `${blocks} of the ` : '';
  return `${some}blocks ${first} to ${last} were indexed without traces`;
}

/** Advice on how to add their internal transfers. */
export function traceGapsAdvice({ first, last }: TraceGaps): string {
  return `"atlas-node verify --repair ${first}..${last}" with the daemon stopped brings their internal transfers in`;
}

/** Blocks that the node has and the index lacks, or null while one of the two heads is unknown. */
export function lagBlocks({
  head,
  nodeHead,
  startBlock,
}: Pick<IndexStatus, 'head' | 'nodeHead' | 'startBlock'>): number | null {
  if (nodeHead === null) return null;
  const indexed = head?.number ?? (startBlock === null ? null : startBlock - 1);
  return indexed === null ? null : Math.max(0, nodeHead - indexed);
}

/** Age in seconds of the last indexed block at `now` (Unix milliseconds), or null while the index is empty. */
export function lagSeconds(
  { headTimestamp }: Pick<IndexStatus, 'headTimestamp'>,
  now: number,
): number | null {
  return headTimestamp === null ? null : Math.max(0, now / 1000 - headTimestamp);
}

/**
 * Whether the chain stands still: the index is at the node's head, whose block is older than `staleSeconds`. While the
 * index fills, its newest block is old for another reason. 0 turns the check off.
 */
export function isStale(
  status: Pick<IndexStatus, 'phase' | 'headTimestamp'>,
  staleSeconds: number,
  now: number,
): boolean {
  const age = lagSeconds(status, now);
  return staleSeconds > 0 && status.phase === 'following' && age !== null && age > staleSeconds;
}

/** Seconds until the node's head is reached at the current rate, or null when the rate is zero. */
export function etaSeconds(status: IndexStatus): number | null {
  const lag = lagBlocks(status);
  if (lag === 0) return 0;
  return lag === null || status.blocksPerSecond <= 0 ? null : lag / status.blocksPerSecond;
}
