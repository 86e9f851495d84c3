/** Messages between the benchmarking process and its workers. */

/** What a worker can be asked to do, by name; each takes one argument or none, which must survive as JSON. */
export type Actions = Record<string, (argument: never) => unknown>;

export interface WorkerRequest {
  id: number;
  action: string;
  argument: unknown;
}

export type WorkerResponse = { id: number; result: unknown } | { id: number; error: string };
