/** Messages between the serving thread and the read threads. */
import type { Head } from '../query/snapshot.ts';

/** Everything a read thread needs, fixed for its life. */
export interface ReaderOptions {
  indexPath: string;
  /** Symbol of the chain's own coin. */
  nativeSymbol: string;
}

/** A request that is too much work for the event loop. */
export interface ReadRequest {
  /** Path of the endpoint. */
  path: string;
  /** As the client sent it; the read thread checks it again. */
  input: unknown;
  /** Largest `depth` of funding_chain for the caller. */
  chainDepth: number;
  /** After this moment of `monotonicNow` nobody waits for the answer. */
  deadline: number;
}

/** An answer as JSON text, with the head of the commit that it comes from. */
export interface ApiResult {
  head: Head;
  body: string;
}

export type ToReader = ReadRequest | 'stop';

export type FromReader =
  | ApiResult
  | { requestError: { status: number; code: string; message: string; param: string | undefined } }
  /** Any other error: a defect. */
  | { defect: string };
