/** What a client has installed and polls. */
import type { Answer } from '../call.ts';

/** What happened since the last poll. */
export type Changes =
  /** JSON text of a list, in Latin-1. */
  | { kind: 'list'; json: string }
  /** The node's error. */
  | { kind: 'answer'; answer: Answer }
  /** Not known any more: the filter is of no use. */
  | { kind: 'lost' };

export interface Filter {
  /** Parameter of `eth_getLogs` for a filter of logs. */
  readonly logs: Readonly<Record<string, unknown>> | null;
  /** Never called while a call of it is under way. */
  changes(signal: AbortSignal): Promise<Changes>;
}
