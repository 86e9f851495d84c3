/** Messages between the benchmarking process and its workers. */

/** The actions of a worker, by name. Each takes at most one argument, which must survive as JSON. */
export type Actions = Record<string, (argument: never) => unknown>;

export interface WorkerRequest {
  id: number;
  action: string;
  argument: unknown;
}

export type WorkerResponse = { id: number; result: unknown } | { id: number; error: string };
