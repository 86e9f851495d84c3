/** Messages between the serving thread and the read threads. */
import type { RequestErrorCode } from '../../lib/errors.ts';
import type { Head } from '../../query/snapshot.ts';
import type { NodeAnswer } from '../node-reads.ts';

/** Fixed for the lifetime of a read thread. */
export interface ReaderOptions {
  indexPath: string;
  /** Symbol of the chain's native coin. */
  nativeSymbol: string;
  labelsPath?: string;
}

export interface ReadRequest {
  /** Path of the endpoint. */
  path: string;
  /** As sent by the client. The read thread validates it again. */
  input: unknown;
  /** Largest `depth` the caller may pass to funding_chain. */
  chainDepth: number;
  /** The node's earlier answer, for endpoints that ask the node. */
  nodeAnswer?: NodeAnswer | undefined;
  /** Time by `monotonicNow` at which the caller gives up. */
  deadline: number;
}

/** An answer as text. */
export interface ApiResult {
  /** The head of the commit it was read from. */
  head: Head;
  body: string;
  /** CSV only, which has no field for it: the start of the next page, null on the last page. */
  nextCursor?: string | null;
}

export type ToReader = ReadRequest | 'stop';

export type FromReader =
  | ApiResult
  | { requestError: { status: number; code: RequestErrorCode; message: string; param: string | undefined } }
  /** Any other error: a failed read, with SQLite's code, or a bug. */
  | { failure: { code: string; message: string; stack: string } };
