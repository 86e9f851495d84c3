/** What the serving thread and the delivering thread tell each other. */
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
  /** `inUse`: the one of the addresses that is in use at the start. */
  node: { addresses: readonly NodeAddress[]; inUse: number; timeoutMs: number; maxBatch: number };
}

/** Since the last report, except for `lag`. */
export interface HooksReport {
  /** Deliveries by what receivers made of them. */
  outcomes: Record<'accepted' | 'failed' | 'gone', number>;
  /** Events accepted. */
  events: number;
  /** Blocks that the slowest active hook is behind the index. */
  lag: number;
}

export type ToHooks = { kind: 'changed' } | { kind: 'node'; at: number } | { kind: 'stop' };

export type FromHooks =
  | { kind: 'report'; report: HooksReport }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: LogFields; msg: string };
