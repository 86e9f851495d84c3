/** What passes between a process that runs queries and the one that watches it. */
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import type { Parameters, QueryAnswer, QueryLimits, QueryPlan } from '../session.ts';

export interface QueryRequest {
  text: string;
  limits: QueryLimits;
  parameters?: Parameters;
}

/** `wantsPlan`: whether the plan is sent before the query runs. A message costs as much as a short query. */
export interface SentQuery extends QueryRequest {
  wantsPlan: boolean;
}

/** The first message to the process. The lists may exceed the 128 KiB of a process argument. */
export interface QueriedIndex {
  path: string;
  /** The lists of `[trades]`. */
  tradeLists: ConfiguredTradeLists;
}

/**
 * From the process: `ready` once it has opened the index, then the outcome of each query, one at a time. `failed`: why
 * the index cannot be read, for the operator.
 */
export type FromProcess =
  | { ready: true }
  | QueryPlan
  | { answer: QueryAnswer }
  | { refused: string }
  | { failed: string };

const KINDS = ['ready', 'plan', 'answer', 'refused', 'failed'];

/** Whether a message is one of this program's. A bundle of another release may send others. */
export function isFromProcess(message: unknown): message is FromProcess {
  return typeof message === 'object' && message !== null && KINDS.some((kind) => kind in message);
}

/** The command that runs such a process; users do not call it. */
export const PROCESS_COMMAND = 'sql-process';
