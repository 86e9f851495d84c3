/** Where the answer to a request goes. */

/** A whole answer. `body` is null when there is nothing to say: all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 500 | 502 | 504;
  body: Buffer | string | null;
  /** Seconds, with status 429. */
  retryAfter?: number;
}

/** Takes an answer in pieces: `begin` (of an answer with status 200), then `more`, then one of `end` and `cut`. */
export interface PieceSink {
  /** Whether a long answer may come in pieces. */
  readonly streams: boolean;
  begin(): void;
  /** A piece whose memory is used again. Returns false when the client must first catch up: until `resume`. */
  more(piece: Buffer): boolean;
  end(): void;
  /** The rest will never come. */
  cut(): void;
}

/** Takes one answer: `whole` once, or pieces. */
export interface RpcSink extends PieceSink {
  /** The memory of the body is used again after the call, unless it is `kept`. */
  whole(answer: RpcAnswer, kept: boolean): void;
}

/** The pieces of one who takes only whole answers: there are none. */
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
