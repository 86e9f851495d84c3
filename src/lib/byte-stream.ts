/**
 * Bytes that arrive in pieces, with back-pressure. An answer passes a chain of consumers from the node's socket to the
 * client's; `write` returns the back-pressure of the whole chain, and `resume` and `cancel` go the other way.
 */

/** Takes a body: `begin`, then `write` for each piece, then `end`. `abort` may replace the rest at any time. */
export interface ByteConsumer<Head = void, Reason = void> {
  begin(head: Head): void;
  /**
   * The memory of the piece is reused after the call. Returns false for back-pressure: except for pieces already read,
   * no more until the consumer's owner calls `resume`.
   */
  write(piece: Buffer): boolean;
  /** The last piece, perhaps empty. Its memory is reused after the call. */
  end(last: Buffer): void;
  /** The rest will never come. */
  abort(reason: Reason): void;
}

/** What the owner of a consumer tells the other end. */
export interface ByteSource {
  /** The consumer can take more pieces. */
  resume(): void;
  /** Nobody wants the rest. The consumer is not called again. */
  cancel(): void;
}
