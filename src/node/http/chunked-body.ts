/** Decodes chunked transfer coding (RFC 9112, section 7.1) from pieces of any size. */
import { UpstreamError } from '../../lib/errors.ts';

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
/** Most digits of a chunk's size, so that chunks of 2^32 bytes and more are refused. */
const MAX_SIZE_DIGITS = 8;
/** Most bytes of a size line with its extensions, and of all trailers. */
const MAX_LINE = 4_096;

export class ChunkedBody {
  private state: 'size' | 'extension' | 'data' | 'data-end' | 'trailer' | 'done' = 'size';
  private size = 0;
  private digits = 0;
  private lineBytes = 0;
  private trailerIsEmpty = true;

  get done(): boolean {
    return this.state === 'done';
  }

  /**
   * Reads `piece` from `at` and passes its data on. Returns the offset where it stopped: the end of the body or of the
   * piece. Throws UpstreamError `malformed`.
   */
  read(piece: Buffer, at: number, onData: (data: Buffer) => void): number {
    let i = at;
    while (i < piece.length && this.state !== 'done') {
      if (this.state === 'data') {
        const end = Math.min(piece.length, i + this.size);
        this.size -= end - i;
        if (this.size === 0) this.state = 'data-end';
        onData(piece.subarray(i, end));
        i = end;
      } else {
        this.step(piece[i]!);
        i++;
      }
    }
    return i;
  }

  private step(byte: number): void {
    switch (this.state) {
      case 'size':
        return this.readSize(byte);
      case 'extension':
        this.checkLineLength();
        if (byte === LF) this.endSize();
        return;
      case 'data-end':
        if (byte === LF) this.beginSize();
        else if (byte !== CR) throw malformed('no line end after a chunk');
        return;
      default:
        return this.readTrailer(byte);
    }
  }

  private readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.size = this.size * 16 + digit;
      this.digits += 1;
      if (this.digits > MAX_SIZE_DIGITS) throw malformed('a chunk of more than 4 GiB');
      return;
    }
    if (this.digits === 0 || (byte !== CR && byte !== LF && byte !== SEMICOLON && byte > 32)) {
      throw malformed('no chunk size');
    }
    if (byte === LF) this.endSize();
    else this.state = 'extension';
  }

  private beginSize(): void {
    this.state = 'size';
    this.size = 0;
    this.digits = 0;
    this.lineBytes = 0;
  }

  private endSize(): void {
    this.lineBytes = 0;
    this.state = this.size === 0 ? 'trailer' : 'data';
  }

  /** Trailers end with an empty line. Their content is ignored. */
  private readTrailer(byte: number): void {
    this.checkLineLength();
    if (byte === CR) return;
    if (byte !== LF) this.trailerIsEmpty = false;
    else if (this.trailerIsEmpty) this.state = 'done';
    else this.trailerIsEmpty = true;
  }

  private checkLineLength(): void {
    this.lineBytes += 1;
    if (this.lineBytes > MAX_LINE) throw malformed(`a line of more than ${MAX_LINE} bytes`);
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function malformed(detail: string): UpstreamError {
  return new UpstreamError('malformed', `not a chunked body: ${detail}`);
}
