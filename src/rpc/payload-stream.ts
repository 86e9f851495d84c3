/** Passes on the payload of an answer while the answer is still arriving. */
import { type PayloadStart, trimEnvelope } from './payload.ts';

/** Bytes held back where part of the envelope follows the payload: enough to contain it. */
const HOLD = 128;
const CLOSE_BRACE = 125;

export class PayloadStream {
  private readonly follows: PayloadStart['follows'];
  private readonly out: (piece: Buffer) => void;
  private held: Buffer = Buffer.alloc(0);
  /** The last non-whitespace byte so far. */
  private lastByte = 0;

  /** `beginning` is the start of the answer, in which its payload was found. `out` gets pieces whose memory is reused. */
  constructor(beginning: Buffer, start: PayloadStart, out: (piece: Buffer) => void) {
    this.follows = start.follows;
    this.out = out;
    this.push(beginning.subarray(start.at));
  }

  push(piece: Buffer): void {
    if (this.follows !== 'nothing') return this.pushAllButLast(piece);
    this.note(piece);
    if (piece.length > 0) this.out(piece);
  }

  /** The body has ended: passes on what was held back. Returns false when it was no complete answer. */
  end(): boolean {
    if (this.follows === 'nothing') return this.lastByte === CLOSE_BRACE;
    const end = trimEnvelope(this.held, this.follows);
    if (end <= 0 || this.held[end - 1] !== CLOSE_BRACE) return false;
    this.out(this.held.subarray(0, end));
    return true;
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
