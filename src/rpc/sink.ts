/** Where the answer to a request goes. */

/** A whole answer. `body` is null when there is nothing to say: all calls were notifications. */
export interface RpcAnswer {
  status: 200 | 204 | 429 | 500 | 502 | 504;
  body: Buffer | string | null;
  /** Seconds, with status 429. */
  retryAfter?: number;
}

/** Takes one answer: `whole` once, or `begin` (of an answer with status 200), then `more`, then one of `end` and `cut`. */
export interface RpcSink {
  /** Whether a long answer may come in pieces. */
  readonly streams: boolean;
  /** The memory of the body is used again after the call, unless it is `kept`. */
  whole(answer: RpcAnswer, kept: boolean): void;
  begin(): void;
  /** A piece whose memory is used again. Returns false when the client must first catch up: until `resume`. */
  more(piece: Buffer): boolean;
  end(): void;
  /** The rest will never come. */
  cut(): void;
}
