/** A JSON-RPC call, its result, and the consumers of answers. */
import type { ByteConsumer, ByteSource } from '../lib/byte-stream.ts';
import type { LargeAnswer } from './large-answer.ts';

export interface Call {
  method: string;
  /** JSON text of the parameters exactly as the client sent them, bytes as Latin-1; `[]` without parameters. */
  params: string;
  /** The parameters as values. Each access may parse them again. */
  readonly args: unknown;
}

/** The HTTP status of the answer to a request of this call alone. */
export type CallStatus = 200 | 429 | 502 | 503 | 504;

/** The answer to a call, possibly an error, in memory that is not reused. */
export interface CallResult {
  /** See response-tail.ts. */
  tail: Buffer;
  status: CallStatus;
  /** Seconds, when the node itself asks to be left alone. */
  retryAfter?: number | undefined;
  /** The HTTP status with which the node sent this answer; undefined for an answer of the gateway itself. */
  httpStatus?: number | undefined;
}

/** Makes a call and resolves with its result, possibly an error. Rejects only with the signal's reason. */
export type RequestFn = (
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
) => Promise<CallResult>;

/** Equal calls have equal keys. */
export function callKey({ method, params }: Call): string {
  return `${method} ${params}`;
}

/** A call made by the gateway itself. Its parameters may come from a client. */
export function createCall(method: string, params: readonly unknown[]): Call {
  return { method, params: latin1Json(params), args: params };
}

/**
 * JSON text of Latin-1 characters only. The text is sent as bytes, so any other character would lose its upper byte:
 * \u0122 in a client's string would become a quote that ends the string at the node, and the rest could inject another
 * method.
 */
function latin1Json(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0100-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Takes one answer: whole with `send`, or in pieces, then with status 200. */
interface Consumer<Body, Status> extends ByteConsumer {
  /** Whether a long answer may come in pieces. */
  readonly canStream: boolean;
  /**
   * The memory of the body is reused after the call unless `mayRetain`. The consumer sends or discards a LargeAnswer.
   * `retryAfter`: seconds, with status 429 or 503. `httpStatus`: as in CallResult.
   */
  send(body: Body, status: Status, mayRetain: boolean, retryAfter?: number, httpStatus?: number): void;
}

/**
 * Takes the answer to one call, as its response tail (response-tail.ts). A LargeAnswer is a result, with status 200.
 */
export interface CallConsumer extends Consumer<Buffer | LargeAnswer, CallStatus> {
  /** The answer becomes part of a larger JSON text, so it must be valid JSON. */
  readonly requiresValidJson: boolean;
}

/** A whole answer to a request. `body` is null when all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 500 | 502 | 503 | 504;
  body: Buffer | string | LargeAnswer | null;
  /** Seconds, with status 429 or 503. */
  retryAfter?: number;
}

/** Takes the answer to a whole request. */
export type RpcConsumer = Consumer<RpcAnswer['body'], RpcAnswer['status']>;

/** The source of an answer that was given at once. */
export const SETTLED: ByteSource = { cancel() {}, resume() {} };

/** Sends the result of a call that never reaches the node. */
export function sendResult(consumer: CallConsumer, { tail, status, retryAfter }: CallResult): ByteSource {
  consumer.send(tail, status, true, retryAfter);
  return SETTLED;
}

/** Sends the answer to a request, in memory that is not reused. */
export function sendAnswer(consumer: RpcConsumer, { body, status, retryAfter }: RpcAnswer): ByteSource {
  consumer.send(body, status, true, retryAfter);
  return SETTLED;
}

/** Base of a consumer that takes only whole answers. */
export const NO_STREAMING = {
  canStream: false,
  begin: misuse,
  write: misuse,
  end: misuse,
  abort: misuse,
};

function misuse(): never {
  throw new Error('pieces were sent to a consumer that takes only whole answers');
}

/** The call that a consumer waits for. */
interface AwaitedCall {
  leave(waiter: Waiter): void;
  resume(): void;
}

/** A consumer that waits for a call. It can be moved to another call. */
export class Waiter implements ByteSource {
  readonly consumer: CallConsumer;
  /** Id of the calling key. */
  readonly client: number;
  call: AwaitedCall;

  constructor(consumer: CallConsumer, client: number, call: AwaitedCall) {
    this.consumer = consumer;
    this.client = client;
    this.call = call;
  }

  cancel(): void {
    this.call.leave(this);
  }

  resume(): void {
    this.call.resume();
  }
}
