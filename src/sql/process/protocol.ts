/** What passes between a process that runs queries and the one that watches it. */
import type { Parameters, QueryAnswer, QueryLimits, TablePlan } from '../session.ts';

export interface QueryRequest {
  text: string;
  limits: QueryLimits;
  parameters?: Parameters;
}

/** To the process: one query at a time. */
export type ToProcess = QueryRequest;

/** From the process. `failed`: the index cannot be read, for the operator. */
export type FromProcess =
  | { ready: true }
  | { plan: TablePlan[] }
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
