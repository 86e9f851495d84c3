/** Passes on the tail of an answer while the answer is still coming. */
import { cutId, type TailStart } from './tail.ts';

/** Bytes held back where the id follows the tail: enough to hold the id. */
const HOLD = 128;
const CLOSE_BRACE = 125;

export class TailStream {
  private readonly idFollows: boolean;
  private readonly out: (piece: Buffer) => void;
  private held: Buffer = Buffer.alloc(0);
  /** The last byte so far that is no white space. */
  private lastByte = 0;

  /** Begins with the first bytes of the answer, in which its tail was found. `out` gets pieces whose memory is used again. */
  constructor(beginning: Buffer, start: TailStart, out: (piece: Buffer) => void) {
    this.idFollows = start.idFollows;
    this.out = out;
    this.push(beginning.subarray(start.at));
  }

  push(piece: Buffer): void {
    if (this.idFollows) return this.pushAllButLast(piece);
    this.note(piece);
    if (piece.length > 0) this.out(piece);
  }

  /** The answer is complete. Returns whether it was an answer. */
  end(): boolean {
    if (!this.idFollows) return this.lastByte === CLOSE_BRACE;
    const end = cutId(this.held);
    if (end > 0) this.out(this.held.subarray(0, end));
    return end > 0;
  }

  private pushAllButLast(piece: Buffer): void {
    const bytes = piece.length < HOLD ? Buffer.concat([this.held, piece]) : piece;
    if (bytes === piece && this.held.length > 0) this.out(this.held);
    const end = Math.max(0, bytes.length - HOLD);
    if (end > 0) this.out(bytes.subarray(0, end));
    this.held = Buffer.from(bytes.subarray(end));
  }

  private note(piece: Buffer): void {
    for (let i = piece.length - 1; i >= 0; i--) {
      if (piece[i]! <= 32) continue;
      this.lastByte = piece[i]!;
      return;
    }
  }
}
