/** A call on its way through the gateway, and the sinks that wait for its answer. */
import type { StreamSink } from './sink.ts';

export interface Call {
  method: string;
  /** JSON text of the parameters exactly as the client sent it, bytes as Latin-1; `[]` when it sent none. */
  params: string;
  /** The parameters as values. Each access may parse them again. */
  readonly args: unknown;
}

/** The HTTP status for an answer if it were the only one. */
export type CallStatus = 200 | 502 | 504;

/** A whole answer, in memory that is not reused. */
export interface Answer {
  payload: Buffer;
  status: CallStatus;
}

/** Makes a call and resolves with its answer, be it an error. Rejects only with the signal's reason. */
export type RequestFn = (method: string, params: readonly unknown[], signal?: AbortSignal) => Promise<Answer>;

/** Takes the payload of the answer to a call (payload.ts): `send` once, or pieces. */
export interface AnswerSink extends StreamSink {
  /** Whether the answer must be checked to be valid JSON, because it becomes part of a larger JSON text. */
  readonly requiresValidJson: boolean;
  /** The payload of the whole answer. Its memory is reused after this call unless `mayRetain`. */
  send(payload: Buffer, status: CallStatus, mayRetain: boolean): void;
}

/** What the owner of a sink can do about its call. */
export interface CallHandle {
  /** The answer is no longer wanted; nothing is called on the sink after this. */
  cancel(): void;
  /** The sink can take more pieces. */
  resume(): void;
}

/** For a call that was answered at once. */
export const SETTLED_HANDLE: CallHandle = { cancel() {}, resume() {} };

/** Sends an answer that is there already. */
export function answerAtOnce(sink: AnswerSink, { payload, status }: Answer): CallHandle {
  sink.send(payload, status, true);
  return SETTLED_HANDLE;
}

/** Equal calls have equal keys. */
export function callKey({ method, params }: Call): string {
  return `${method} ${params}`;
}

/** A call that the gateway makes itself; the parameters may hold what a client gave. */
export function createCall(method: string, params: readonly unknown[]): Call {
  return { method, params: latin1Json(params), args: params };
}

/**
 * JSON text of Latin-1 characters only, since it is sent as bytes of that: of any other only the lower byte would go out,
 * so the escape \u0122 in a client's string would end the string at the node, and what follows could be another method.
 */
function latin1Json(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0100-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
