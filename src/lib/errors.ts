/**
 * The program's errors, one class per way of handling them. A class with a single handler is declared where it is
 * thrown. Anything else thrown is a bug and ends in `500 internal` or exit code 1.
 */

import { redactNodeText } from '../log/redact.ts';

/** The configuration or the command line is wrong: print one line per mistake, exit 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly mistakes: readonly string[];
  constructor(mistakes: string | readonly string[], options?: ErrorOptions) {
    const list = typeof mistakes === 'string' ? [mistakes] : mistakes;
    super(list.join('; '), options);
    this.mistakes = list;
  }
}

/** Advice for the system's listen errors, by code. */
const LISTEN_REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is taken by another program; stop it or choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address; use one of its addresses, or 0.0.0.0 for all',
  ENOTFOUND: 'no such host; use an address of this machine, or 0.0.0.0 for all',
  EAI_AGAIN: 'the name cannot be resolved at present; use an address of this machine, or 0.0.0.0 for all',
  EACCES: 'ports below 1024 need privileges; choose another port',
};

/** A listen address cannot be bound. The command line adds the source of the setting. */
export class ListenError extends ConfigError {
  readonly setting: 'server.host' | 'server.port' | 'metrics.listen';
  /** The system's code, such as `EADDRINUSE`. */
  readonly code: string;
  /** The message without the setting. */
  readonly problem: string;
  constructor(setting: ListenError['setting'], address: string, code: string, options?: ErrorOptions) {
    const problem = `cannot listen on ${address}: ${LISTEN_REASONS[code] ?? code}`;
    super(`${setting}: ${problem}`, options);
    this.setting = setting;
    this.code = code;
    this.problem = problem;
  }
}

/** The program cannot continue and a restart alone will not help: print one line with advice, exit 1. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/** A file is damaged: its writer stops and reports it; the readable part is still served. */
export class DamagedFileError extends FatalError {
  override name = 'DamagedFileError';
}

/**
 * The index or the keys file is temporarily unreadable or unwritable (disk full, file gone): report why, pause, retry.
 */
export class StorageError extends Error {
  override name = 'StorageError';
}

/**
 * The node gave no usable answer: retry with backoff. The message often quotes the node, so it is put on one line,
 * without keys and terminal control characters. `reason` is also a metric label.
 */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  readonly reason: UpstreamFailure;
  /** The JSON-RPC error code, if the node answered with an error object. */
  readonly code: number | undefined;
  /** The error object itself, if it may concern a client. */
  readonly answer: object | undefined;
  /** The `data` of the error object that answered a call of a batch or a single one: what a revert returned. */
  readonly data: unknown;
  /** The status received in place of 200, with reason `http` or beside the error of a call. */
  readonly httpStatus: number | undefined;
  /** Retry-After of that answer, seconds. */
  readonly retryAfter: number | undefined;
  constructor(
    reason: UpstreamFailure,
    message: string,
    code?: number,
    options?: ErrorOptions & { httpStatus?: number; retryAfter?: number; answer?: object; data?: unknown },
  ) {
    super(redactNodeText(onOneLine(message)), options);
    this.reason = reason;
    this.code = code;
    this.answer = options?.answer;
    this.data = options?.data;
    this.httpStatus = options?.httpStatus;
    this.retryAfter = options?.retryAfter;
  }
}
export type UpstreamFailure =
  | 'timeout'
  | 'connection'
  /** The request was not sent, because too many others are queued for the node. */
  | 'queue-full'
  | 'http'
  | 'malformed'
  | 'rpc'
  | 'inconsistent'
  | 'too-large';

/** The error codes under `/api`, as listed in /openapi.json. */
export const API_ERROR_CODES = [
  'invalid_parameter',
  'invalid_address',
  'invalid_body',
  'batch_too_large',
  'tier_limit',
  'not_allowed',
  'not_found',
  'method_not_allowed',
  'reorged',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'quota_exceeded',
  'internal',
  'not_ready',
  'timeout',
  'busy',
  'node_unavailable',
  'storage',
  'query_refused',
  'query_ended',
] as const;

export type RequestErrorCode =
  | (typeof API_ERROR_CODES)[number]
  /** Streams and webhooks; -32602 in JSON-RPC. */
  | 'invalid_params'
  | 'limit_exceeded'
  | 'unknown_subscription'
  | 'upgrade_required'
  | 'upstream'
  /** Used by the panel. */
  | 'damaged'
  | 'key_revoked'
  | 'length_required'
  | 'list_in_use'
  | 'not_the_panel'
  | 'not_signed_in'
  | 'postgres_unavailable'
  | 'shared_keys'
  | 'too_many_failures'
  | 'wrong_token';

/** A request is refused: answer with `status` and `code`. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly status: number;
  readonly code: RequestErrorCode;
  /** The invalid parameter, if any. */
  readonly param: string | undefined;
  constructor(status: number, code: RequestErrorCode, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** What the client has seen is not on the chain any more, or was rewritten by a repair. */
export class ReorgedError extends RequestError {
  override name = 'ReorgedError';
  /** The block to read again from. */
  readonly from: number;
  constructor(message: string, from: number, param: string) {
    super(409, 'reorged', message, param);
    this.from = from;
  }
}

/** Too much is asked at once: the client may ask again after a while. */
export class BusyError extends RequestError {
  override name = 'BusyError';
  /** Whole seconds. */
  readonly retryAfter: number;
  constructor(message: string, retryAfter: number) {
    super(429, 'busy', message);
    this.retryAfter = retryAfter;
  }
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The stack of anything thrown, or its message if it has none. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** The code of a system or SQLite error, such as ENOENT; empty if there is none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

/**
 * The text on one line, without terminal control characters and characters that affect how the surrounding text is
 * displayed: direction marks, zero-width characters, lone surrogates.
 */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cf}\p{Cs}]+/gu, '');
}
