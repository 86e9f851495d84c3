/** Messages between the serving thread and the indexer thread, and between the indexer thread and its workers. */

import type { IncompleteBlock } from '../decode/block-checks.ts';
import type { Tolerance } from '../decode/tolerance.ts';
import type { UpstreamFailure } from '../lib/errors.ts';
import type { BlockBatch, CommittingBlocks, Watermark } from '../model/block-batch.ts';
import type { HeadTag, WantedFinality } from '../model/finality.ts';
import type { ConfiguredLists } from '../model/index-rules.ts';
import type { IndexStatus } from '../model/index-status.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import type { NodeAddress } from '../node/choice/selected-node.ts';
import type { LoadRules } from './backfill/load-blocks.ts';
import type { MissingReceiptsFacts } from './require-transactions.ts';

interface NodeLimits {
  timeoutMs: number;
  maxSockets: number;
  maxBatch: number;
}

/** Options of a node client. */
export interface NodeClientOptions extends NodeLimits {
  http: string;
  /** See IndexerThreadOptions. */
  tracesHttp?: string;
}

/** The options of the indexer thread, fixed for its lifetime. */
export interface IndexerThreadOptions {
  indexPath: string;
  /** The nodes, the preferred one first, and the position of the node used first. */
  nodes: readonly NodeAddress[];
  inUse: number;
  /** Address of the node that serves traces; empty for the node in use. */
  tracesHttp: string;
  node: NodeLimits;
  index: {
    startBlock: number | 'earliest' | 'latest';
    head: 'auto' | HeadTag;
    finality: WantedFinality;
    traces: boolean;
    /** Whether to verify transactions and receipts against the roots in the headers. */
    checkRoots: boolean;
    /** Interval of head polls while the node announces no heads, milliseconds. */
    pollMs: number;
    /** Most blocks that one reorg may remove. */
    maxReorg: number;
    /** Longest wait for the traces of a block, milliseconds; at the head at most two minutes. */
    gapAfterMs: number;
    /** How long a node's refusal must stand, milliseconds; 30 s unless a test is in a hurry. */
    confirmMs?: number;
    /** Lag, in blocks, that still counts as following the head. */
    readyLag: number;
    /** Target transfers per commit during a backfill. */
    batchTransfers: number;
    /** Memory for the blocks and changes of backfill commits. */
    backfillMemoryMb: number;
    /** Number of backfill workers, at least one (`index.loaders`). */
    backfillWorkers: number;
    cacheMb: number;
    /** How long all nodes must give the same incomplete answer about a block before it is stored, milliseconds. */
    logGapMs?: number;
  };
  /** The contracts that the configuration adds to the known ones; only a new index follows them. */
  configured: ConfiguredLists;
  /** The contracts that the configuration adds to the lists by which trades are told. */
  configuredTrades: ConfiguredTradeLists;
}

export type ToIndexer =
  /** Switches indexing to the node at this position. */
  | { at: number }
  /** Asks the node whether these wallets are contracts, and stores it. */
  | { examine: readonly number[] };

export type FromIndexer =
  /** Precedes the watermark of the same blocks, for small commits only. The commit may still fail. */
  | { kind: 'committing'; blocks: CommittingBlocks }
  | { kind: 'watermark'; watermark: Watermark }
  /** `at`: position of the node that the status describes. */
  | { kind: 'status'; at: number; status: IndexStatus; delta: MetricsDelta }
  /** Background work found damage in the index. */
  | { kind: 'unreadable'; message: string };

/** Sends a message from the indexer thread to the serving thread. */
export type Send = (message: FromIndexer) => void;

/** The indexer's work since its last report, for the metrics. */
export interface MetricsDelta {
  blocks: number;
  /** Stored transfers, indexed by TransferKind. */
  transfers: number[];
  /** Blocks whose logs restart or repeat their numbers. */
  renumbered: number;
  skippedLogs: Record<string, number>;
  /** Depth of each rollback. */
  rollbacks: number[];
  /** Seconds of each commit. */
  commitSeconds: number[];
  calls: UpstreamCall[];
}

/** One call to the node. */
export interface UpstreamCall {
  method: string;
  seconds: number;
  failure: UpstreamFailure | null;
}

export interface BackfillWorkerOptions {
  node: NodeClientOptions;
  rules: LoadRules;
}

/** A request to load blocks `from..to`, both inclusive. */
export interface RangeRequest {
  id: number;
  from: number;
  to: number;
  tolerance: Tolerance;
}

/** `cancel` withdraws a range that has not started; the worker still answers it. */
export type ToBackfillWorker = RangeRequest | { cancel: number };

export type FromBackfillWorker =
  | { id: number; batches: BlockBatch[]; calls: UpstreamCall[] }
  | {
      id: number;
      /** `incomplete`: of an IncompleteBlockError; `missing`: of MissingReceipts. */
      error: {
        reason: UpstreamFailure;
        message: string;
        incomplete: IncompleteBlock | null;
        missing: MissingReceiptsFacts | null;
      };
      calls: UpstreamCall[];
    }
  | { id: number; cancelled: true }
  /** Any other error is a bug and stops the indexer. */
  | { id: number; defect: string };
