/** Messages between the serving thread and the delivery thread. */
import type { LogFields } from '../log/logger.ts';
import type { NodeAddress } from '../node/choice/selected-node.ts';

export interface HooksThreadOptions {
  indexPath: string;
  hooksPath: string;
  labelsPath: string;
  nativeSymbol: string;
  metadataWaitMs: number;
  maxReorg: number;
  allowPrivate: boolean;
  /** `inUse`: position of the node used first. */
  node: { addresses: readonly NodeAddress[]; inUse: number; timeoutMs: number; maxBatch: number };
}

/** Since the last report, except for `lag`. */
export interface HooksReport {
  /** Deliveries by outcome. */
  outcomes: Record<'accepted' | 'failed' | 'gone', number>;
  /** Events accepted. */
  events: number;
  /** Blocks by which the slowest active hook lags the index. */
  lag: number;
}

export type ToHooks = { kind: 'changed' } | { kind: 'node'; at: number } | { kind: 'stop' };

export type FromHooks =
  | { kind: 'report'; report: HooksReport }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: LogFields; msg: string };
