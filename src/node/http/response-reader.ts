/** Parses consecutive HTTP/1.1 answers from the pieces that a socket delivers. */
import type { ByteConsumer } from '../../lib/byte-stream.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { type ResponseHead, readResponseHead } from './response-head.ts';

/** Takes an answer of the node, or the error that prevented or truncated it. */
export type ResponseConsumer = ByteConsumer<ResponseHead, UpstreamError>;

type ReaderConsumer = Omit<ResponseConsumer, 'abort'>;

const MAX_HEAD_BYTES = 32 * 1024;
const NOTHING = Buffer.alloc(0);

const CR = 13;
const LF = 10;

/** The offset of the line end that an empty line follows; -1 if there is none yet. */
function endOfHead(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1];
    if (next === LF || (next === CR && bytes[at + 2] === LF)) return bytes[at - 1] === CR ? at - 1 : at;
  }
  return -1;
}

export class ResponseReader {
  private head: ResponseHead | null = null;
  /** The start of a head that arrives in several pieces. */
  private begun = NOTHING;
  /** Remaining bytes of a body of known length. */
  private remainingBytes = 0;
  private chunked: ChunkedBody | null = null;
  private isReusable = true;

  /** Whether the connection can be reused after the current answer. */
  get reusable(): boolean {
    return this.isReusable;
  }

  /** Parses the next piece from the socket. Throws UpstreamError `malformed`. */
  read(piece: Buffer, consumer: ReaderConsumer): void {
    const body = this.head === null ? this.readHead(piece, consumer) : piece;
    if (body === null) return;
    if (this.chunked !== null) this.readChunked(body, this.chunked, consumer);
    else if (this.head?.length === null) consumer.write(body);
    else this.readFixedLength(body, consumer);
  }

  /** Call when the connection has closed. Completes a body that ends with the connection. */
  finish(consumer: ReaderConsumer): void {
    if (this.head === null || this.head.length !== null || this.chunked !== null) return;
    this.isReusable = false;
    consumer.end(NOTHING);
  }

  /** The rest of the piece after the head, or null while the head is incomplete. */
  private readHead(piece: Buffer, consumer: ReaderConsumer): Buffer | null {
    const bytes = this.begun.length === 0 ? piece : Buffer.concat([this.begun, piece]);
    this.begun = NOTHING;
    // Empty lines before a status line are the rest of the answer before (RFC 9112, section 2.2).
    let from = bytes.findIndex((byte) => byte !== CR && byte !== LF);
    if (from < 0) return null;
    for (;;) {
      const end = endOfHead(bytes, from);
      if ((end < 0 ? bytes.length : end) - from > MAX_HEAD_BYTES) {
        throw new UpstreamError(
          'malformed',
          `not an HTTP/1.1 answer: a head of over ${MAX_HEAD_BYTES} bytes`,
        );
      }
      if (end < 0) {
        this.begun = Buffer.from(bytes.subarray(from));
        return null;
      }
      const head = readResponseHead(bytes.toString('latin1', from, end));
      from = bytes.indexOf(LF, bytes.indexOf(LF, end) + 1) + 1;
      if (head.status >= 200) {
        this.begin(head, consumer);
        return bytes.subarray(from);
      }
      // 1xx is an interim answer; the final one follows.
    }
  }

  private begin(head: ResponseHead, consumer: ReaderConsumer): void {
    this.head = head;
    this.remainingBytes = head.length ?? 0;
    this.chunked = head.chunked ? new ChunkedBody() : null;
    consumer.begin(head);
  }

  private readFixedLength(body: Buffer, consumer: ReaderConsumer): void {
    if (body.length < this.remainingBytes) {
      this.remainingBytes -= body.length;
      if (body.length > 0) consumer.write(body);
      return;
    }
    const last = body.length === this.remainingBytes ? body : body.subarray(0, this.remainingBytes);
    this.end(body.length - this.remainingBytes);
    consumer.end(last);
  }

  /** Passes each piece on when the next one arrives, so that it can mark the last. */
  private readChunked(body: Buffer, chunked: ChunkedBody, consumer: ReaderConsumer): void {
    let piece: Buffer | null = null;
    const end = chunked.read(body, 0, (data) => {
      if (piece !== null) consumer.write(piece);
      piece = data;
    });
    if (chunked.done) {
      this.end(body.length - end);
      consumer.end(piece ?? NOTHING);
    } else if (piece !== null) consumer.write(piece);
  }

  /** Prepares for the next answer. Excess bytes after an answer make the connection unusable. */
  private end(excess: number): void {
    this.isReusable = (this.head?.keepAlive ?? false) && excess === 0;
    this.head = null;
    this.chunked = null;
  }
}

const SEMICOLON = 59;
/** Most digits of a chunk's size, so that chunks of 2^32 bytes and more are refused. */
const MAX_SIZE_DIGITS = 8;
/** Most bytes of a size line with its extensions, and of all trailers. */
const MAX_LINE = 4_096;

/** Decodes chunked transfer coding (RFC 9112, section 7.1) from pieces of any size. */
class ChunkedBody {
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
