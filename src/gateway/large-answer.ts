/**
 * A large answer on its way to a client, as pieces whose memory stays reserved in the client's budget until sent. The
 * pieces are never joined, because copying 30 MB blocks the event loop.
 */
import type { ClientBudget } from '../lib/byte-budget.ts';

/** Shorter answers are copied into one buffer instead. */
export const MIN_LARGE_BYTES = 128 * 1024;

/** Most bytes sent per turn of the event loop. */
const CHUNK_BYTES = 256 * 1024;
/** Smaller pieces are joined with the next ones, because each write is a system call. */
const SMALL_BYTES = 16 * 1024;
const JOINED_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

export class LargeAnswer {
  private readonly budget: ClientBudget;
  private readonly pieces: Buffer[] = [];
  /** Index of the first piece not yet released. */
  private firstHeld = 0;
  /** The first byte not yet in a chunk: its piece and the offset in it. */
  private at = 0;
  private offset = 0;
  private chunk: Buffer = NOTHING;
  private unsent = 0;

  constructor(budget: ClientBudget) {
    this.budget = budget;
  }

  /** An answer of these pieces; null, with nothing reserved, if the budget has no room for them. */
  static of(pieces: readonly Buffer[], budget: ClientBudget): LargeAnswer | null {
    const held = new LargeAnswer(budget);
    if (pieces.every((piece) => held.add(piece))) return held;
    held.discard();
    return null;
  }

  /** Bytes not sent yet. */
  get left(): number {
    return this.unsent;
  }

  /** Appends a piece, whose memory must not change. Returns false if there is no room for it. */
  add(piece: Buffer): boolean {
    if (!this.budget.hold(piece)) return false;
    this.pieces.push(piece);
    this.unsent += piece.length;
    return true;
  }

  /** Prepends a piece before anything is sent. Returns false if there is no room for it. */
  addFirst(piece: Buffer): boolean {
    if (!this.budget.hold(piece)) return false;
    this.pieces.unshift(piece);
    this.unsent += piece.length;
    return true;
  }

  /** Moves the pieces of another answer to the same client to the end of this one. */
  append(other: LargeAnswer): void {
    for (const piece of other.pieces) this.pieces.push(piece);
    this.unsent += other.unsent;
    other.pieces.length = 0;
    other.unsent = 0;
  }

  /**
   * The next bytes to send, for one turn of the event loop. Returns the same bytes until `advance`; empty at the end.
   */
  peek(): Buffer {
    if (this.chunk.length === 0) this.chunk = this.nextChunk();
    return this.chunk;
  }

  /** Call when `bytes` of the chunk are sent. Releases the pieces that are sent completely. */
  advance(bytes: number): void {
    this.chunk = this.chunk.subarray(bytes);
    this.unsent -= bytes;
    if (this.chunk.length === 0) this.letGoTo(this.at);
  }

  /** Releases the rest. */
  discard(): void {
    this.letGoTo(this.pieces.length);
    this.at = this.pieces.length;
    this.chunk = NOTHING;
    this.unsent = 0;
  }

  /** The whole answer as one buffer, for parsing. Releases everything. */
  join(): Buffer {
    const whole = Buffer.concat(this.pieces);
    this.discard();
    return whole;
  }

  private nextChunk(): Buffer {
    const piece = this.pieces[this.at];
    if (piece === undefined) return NOTHING;
    if (piece.length - this.offset >= SMALL_BYTES) return this.take(piece, CHUNK_BYTES);
    const parts: Buffer[] = [];
    let bytes = 0;
    for (let next: Buffer | undefined = piece; next !== undefined && bytes < JOINED_BYTES; ) {
      const part = this.take(next, JOINED_BYTES - bytes);
      parts.push(part);
      bytes += part.length;
      next = this.pieces[this.at];
    }
    return Buffer.concat(parts, bytes);
  }

  private take(piece: Buffer, most: number): Buffer {
    const part = piece.subarray(this.offset, this.offset + most);
    this.offset += part.length;
    if (this.offset === piece.length) {
      this.at++;
      this.offset = 0;
    }
    return part;
  }

  private letGoTo(end: number): void {
    for (; this.firstHeld < end; this.firstHeld++) {
      this.budget.letGo(this.pieces[this.firstHeld]!);
      this.pieces[this.firstHeld] = NOTHING; // the answer outlives the piece
    }
  }
}
