/** Where the answer to a request goes. */

/** A whole answer. `body` is null when there is nothing to say: all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 500 | 502 | 504;
  body: Buffer | string | null;
  /** Seconds, with status 429. */
  retryAfter?: number;
}

/** Takes an answer in pieces: `begin` (the status is 200), then `more`, then either `end` or `cut`. */
export interface PieceSink {
  /** Whether a long answer may come in pieces. */
  readonly streams: boolean;
  begin(): void;
  /** A piece, whose memory is reused after the call. False means backpressure: no more pieces until `resume`. */
  more(piece: Buffer): boolean;
  end(): void;
  /** The rest will never come. */
  cut(): void;
}

/** Takes one answer: `whole` once, or pieces. */
export interface RpcSink extends PieceSink {
  /** The memory of the body is reused after the call unless `kept`. */
  whole(answer: RpcAnswer, kept: boolean): void;
}

/** For a sink that takes only whole answers. */
export const ONLY_WHOLE: PieceSink = {
  streams: false,
  begin: misuse,
  more: misuse,
  end: misuse,
  cut: misuse,
};

function misuse(): never {
  throw new Error('pieces were sent to one who takes only whole answers');
}
