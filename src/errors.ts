/**
 * The errors of the program, one class for each way of handling them; a class that only one caller handles is declared
 * where it is thrown. Anything else that is thrown is a defect and ends in `500 internal` or exit code 1.
 */

import { onOneLine } from './lib/one-line.ts';

/** The configuration or the command line is wrong: print one line, exit 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Advice for the system's listen errors, by code. */
const LISTEN_REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is taken by another program; stop it or choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address; name one that it has, or 0.0.0.0 for all',
  ENOTFOUND: 'there is no such host; name an address of this machine, or 0.0.0.0 for all',
  EAI_AGAIN: 'the name cannot be looked up now; name an address of this machine, or 0.0.0.0 for all',
  EACCES: 'ports below 1024 need privileges; choose another port',
};

/** A listen address cannot be bound: a ConfigError to which the command line adds where the setting comes from. */
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

/** The program cannot go on and a restart alone will not help: print one line with what to do, exit 1. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/** The index or the keys file cannot be read or written for now (disk full, file gone): pause, show why, try again. */
export class StorageError extends Error {
  override name = 'StorageError';
}

/**
 * The node did not give a usable answer: retry with backoff. The message often has the node's own words; it is one line.
 * `reason` is also a label of metrics.
 */
export class UpstreamError extends Error {
  override name = 'UpstreamError';
  readonly reason: UpstreamFailure;
  /** JSON-RPC error code when the node answered with an error object. */
  readonly code: number | undefined;
  /** With reason `http`: the status that came in place of 200. */
  readonly httpStatus: number | undefined;
  constructor(
    reason: UpstreamFailure,
    message: string,
    code?: number,
    options?: ErrorOptions & { httpStatus?: number },
  ) {
    super(onOneLine(message), options);
    this.reason = reason;
    this.code = code;
    this.httpStatus = options?.httpStatus;
  }
}
export type UpstreamFailure =
  | 'timeout'
  | 'connection'
  /** The request was not sent: too many others wait for the node. */
  | 'queue-full'
  | 'http'
  | 'malformed'
  | 'rpc'
  | 'inconsistent'
  | 'too-large';

/** The client asked for something it cannot have: answer with `status` and `code`. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly status: number;
  readonly code: string;
  /** The parameter that the message is about, if any. */
  readonly param: string | undefined;
  constructor(status: number, code: string, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}
