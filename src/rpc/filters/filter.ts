/** A filter that a client installed and polls. */
import type { Answer } from '../call.ts';

/** What happened since the last poll. */
export type Changes =
  /** JSON text of a list, in Latin-1. */
  | { kind: 'list'; json: string }
  /** The node's error. */
  | { kind: 'answer'; answer: Answer }
  /** No longer known: the filter cannot go on. */
  | { kind: 'lost' };

export interface Filter {
  /** Parameter of `eth_getLogs` for a filter of logs. */
  readonly logs: Readonly<Record<string, unknown>> | null;
  /** Calls never overlap. */
  poll(signal: AbortSignal): Promise<Changes>;
}
