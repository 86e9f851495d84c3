/** Messages between the serving thread and the sink's thread. */
import type { SinkStatus } from '../model/sink-status.ts';

export interface SinkOptions {
  indexPath: string;
  url: string;
  schema: string;
  fromBlock: number | 'earliest';
  finality: 'latest' | 'finalized';
  wallets: boolean;
  partitionBlocks: number;
}

export type ToSink =
  /** The index has committed or rolled back; `committedAt` is in Unix milliseconds, null for a rollback. */
  { kind: 'wake'; committedAt: number | null } | { kind: 'stop' };

/** The sink's work since its last report, for the metrics. */
export interface SinkDelta {
  transfers: number;
  /** Seconds from each commit to the index until its blocks are in PostgreSQL. */
  delays: number[];
  errors: number;
  rollbacks: number;
}

export type FromSink =
  | { kind: 'status'; status: SinkStatus; delta: SinkDelta }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; msg: string; fields: Record<string, unknown> };
