/** Messages between the serving thread and the writer thread, and between the writer and its helper threads. */

import type { UpstreamFailure } from '../errors.ts';
import type { LoadRules } from '../sync/load-blocks.ts';
import type { BlockBatch, CommittingBlocks, IndexStatus, Watermark } from '../types.ts';

/** Everything the writer needs, fixed for its life. */
export interface WriterOptions {
  indexPath: string;
  node: { http: string; ws: string; timeoutMs: number; maxSockets: number; maxBatch: number };
  index: {
    startBlock: number | 'earliest' | 'latest';
    head: 'auto' | 'finalized' | 'latest';
    traces: boolean;
    /** Milliseconds between polls of the node's head while none is announced. */
    pollMs: number;
    /** Blocks behind the node's head that still count as following it. */
    readyLag: number;
    /** About how many transfers a commit has while filling. */
    batchTransfers: number;
    /** Threads that fetch and decode while filling, at least one. */
    loaders: number;
    cacheMb: number;
  };
  /** Wrapped native contracts beyond those known for the chain. */
  wrappedNative: readonly string[];
}

export type ToWriter = { kind: 'stop' };

export type FromWriter =
  /** Comes before the watermark of the same blocks, and only for few transfers; the commit may still fail. */
  | { kind: 'committing'; blocks: CommittingBlocks }
  | { kind: 'watermark'; watermark: Watermark }
  | { kind: 'status'; status: IndexStatus; delta: MetricsDelta }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; msg: string; fields: Record<string, unknown> }
  /** The writer cannot go on; it has closed the index. */
  | { kind: 'fatal'; message: string }
  | { kind: 'stopped' };

/** Sends a message from the writer thread to the serving thread. */
export type Send = (message: FromWriter) => void;

/** What the writer did since it last reported, for the metrics. */
export interface MetricsDelta {
  blocks: number;
  /** Transfers stored, by TransferKind. */
  transfers: number[];
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

export interface LoaderOptions {
  node: WriterOptions['node'];
  rules: LoadRules;
}

/** Blocks `from` to `to`, both included, to be loaded. */
export interface RangeRequest {
  id: number;
  from: number;
  to: number;
}

/** `cancel` takes back a range that is not begun yet; the loader still answers for it. */
export type ToLoader = RangeRequest | { cancel: number } | 'stop';

export type FromLoader =
  | { id: number; batch: BlockBatch; calls: UpstreamCall[] }
  | {
      id: number;
      error: { reason: UpstreamFailure; message: string };
      calls: UpstreamCall[];
    }
  | { id: number; cancelled: true }
  /** Any other error: a defect, which stops the writer. */
  | { id: number; defect: string };

export type ToCheckpointer = 'checkpoint' | 'stop';

/** The log has been moved into the file, as far as readers and the disk allowed. */
export type FromCheckpointer = 'checkpointed';
