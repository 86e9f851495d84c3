/**
 * Buffers an answer of the node that arrives in several pieces, whose memory is reused: a copy within the client's
 * budget.
 */
import type { ClientBudget } from '../lib/byte-budget.ts';
import { JsonStreamValidator } from './json-stream-validator.ts';

/** Largest buffered answer, bytes: more than any node sends at its default limits. */
const MAX_BUFFERED = 64 * 2 ** 20;

export class BufferedAnswer {
  private readonly budget: ClientBudget;
  /** Content-Length, or null. */
  private readonly announced: number | null;
  private pieces: Buffer[] = [];
  private bytes = 0;
  /**
   * Memory for a whole body of announced length, so that a long body is never joined in one go; null until a second
   * piece.
   */
  private whole: Buffer | null = null;
  private validation: 'undecided' | 'off' | JsonStreamValidator = 'undecided';

  constructor(budget: ClientBudget, announced: number | null) {
    this.budget = budget;
    this.announced = announced !== null && announced <= MAX_BUFFERED ? announced : null;
  }

  get length(): number {
    return this.bytes;
  }

  /** Copies a piece, unless that takes too much memory. */
  add(piece: Buffer): 'added' | 'too-large' | 'no-room' {
    const end = this.bytes + piece.length;
    if (end > MAX_BUFFERED) return 'too-large';
    if (!this.budget.reserve(piece.length)) return 'no-room';
    if (this.whole === null && this.bytes > 0 && this.announced !== null && end <= this.announced) {
      this.whole = Buffer.allocUnsafeSlow(this.announced);
      Buffer.concat(this.pieces).copy(this.whole);
      this.pieces = [];
    }
    if (this.whole === null) this.pieces.push(Buffer.from(piece));
    else piece.copy(this.whole, this.bytes);
    this.bytes = end;
    return 'added';
  }

  get isValidationUndecided(): boolean {
    return this.validation === 'undecided';
  }

  /** Decides whether to validate the JSON on arrival, and validates the pieces so far. */
  beginValidation(isNeeded: boolean): void {
    this.validation = isNeeded ? new JsonStreamValidator() : 'off';
    if (isNeeded) this.validate(this.join());
  }

  /** Validates the last piece. The final check explains the error of an invalid answer. */
  validate(piece: Buffer): void {
    const { validation } = this;
    if (typeof validation !== 'string' && !validation.push(piece)) this.validation = 'off';
  }

  /** Call when all pieces have arrived. Returns whether the answer is known to be valid JSON. */
  endValidation(): boolean {
    return typeof this.validation !== 'string' && this.validation.end();
  }

  /** All pieces so far; part of a longer buffer if more bytes were announced. */
  join(): Buffer {
    return this.whole === null ? Buffer.concat(this.pieces) : this.whole.subarray(0, this.bytes);
  }

  /** Returns the bytes to the budget. */
  release(): void {
    this.budget.release(this.bytes);
    this.bytes = 0;
    this.pieces = [];
    this.whole = null;
  }
}
