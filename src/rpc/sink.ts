/** Where the answer to a request goes. */

/** A whole answer. `body` is null when there is nothing to say: all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 500 | 502 | 504;
  body: Buffer | string | null;
  /** Seconds, with status 429. */
  retryAfter?: number;
}

/** Takes an answer in pieces: `begin` (the status is 200), then `write`, then either `end` or `abort`. */
export interface StreamSink {
  /** Whether a long answer may come in pieces. */
  readonly canStream: boolean;
  begin(): void;
  /** A piece, whose memory is reused after the call. False means backpressure: no more pieces until `resume`. */
  write(piece: Buffer): boolean;
  end(): void;
  /** The rest will never come. */
  abort(): void;
}

/** Takes one answer: `send` once, or pieces. */
export interface RpcSink extends StreamSink {
  /** The memory of the body is reused after the call unless `mayRetain`. */
  send(answer: RpcAnswer, mayRetain: boolean): void;
}

/** For a sink that takes only whole answers. */
export const NO_STREAMING: StreamSink = {
  canStream: false,
  begin: misuse,
  write: misuse,
  end: misuse,
  abort: misuse,
};

function misuse(): never {
  throw new Error('pieces were sent to a sink that takes only whole answers');
}
