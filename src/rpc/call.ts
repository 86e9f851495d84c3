/** A call on its way through the gateway, and those who wait for its answer. */
import type { PieceSink } from './sink.ts';

export interface Call {
  method: string;
  /** JSON text of the parameters as the client wrote it, bytes as Latin-1; `[]` when it sent none. */
  params: string;
  /** The parameters as values. Each access may parse them anew. */
  readonly args: unknown;
}

/** What an answer would have as HTTP status if it were the only one. */
export type CallStatus = 200 | 502 | 504;

/** A whole answer, in memory that stays as it is. */
export interface Answer {
  tail: Buffer;
  status: CallStatus;
}

/** Asks the node by way of merging and cache. Rejects only with the signal's reason. */
export type Ask = (method: string, params: readonly unknown[], signal?: AbortSignal) => Promise<Answer>;

/** Takes the tail of the answer to a call: `take` once, or pieces. */
export interface Taker extends PieceSink {
  /** Whether the answer has to be proved to be JSON: it becomes part of something that a broken one would spoil. */
  readonly strict: boolean;
  /** The tail of the whole answer. Its memory is used again after the call, unless it is `kept`. */
  take(tail: Buffer, status: CallStatus, kept: boolean): void;
}

/** A taker's hold on its call. */
export interface Pending {
  /** The taker wants the answer no more, and hears no more of it. */
  abandon(): void;
  /** The taker can take more pieces. */
  resume(): void;
}

/** Of a call that was answered at once. */
export const SETTLED: Pending = { abandon() {}, resume() {} };

/** The same for equal calls. */
export function callKey({ method, params }: Call): string {
  return `${method} ${params}`;
}

/** A call that the gateway makes itself. */
export function ownCall(method: string, params: readonly unknown[]): Call {
  return { method, params: JSON.stringify(params), args: params };
}
