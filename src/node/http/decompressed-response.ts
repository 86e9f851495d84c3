/**
 * Bodies that a proxy compresses although the request asks for `identity`. Decompressed in one piece, because this is
 * rare and the consumers take pieces synchronously.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { UpstreamError } from '../../lib/errors.ts';
import type { ContentCoding, ResponseHead } from './response-head.ts';
import type { ResponseConsumer } from './response-reader.ts';

/** Most bytes of a compressed body, and of its content: beyond what a node sends, to stop a bomb. */
const MAX_COMPRESSED = 64 * 2 ** 20;
const MAX_CONTENT = 512 * 2 ** 20;

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Buffer;

const DECOMPRESS: Readonly<Record<ContentCoding, Decompress>> = {
  gzip: gunzipSync,
  deflate: inflateEither,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** `deflate` means the zlib format. Some servers send the bare stream. */
function inflateEither(body: Buffer, options: { maxOutputLength: number }): Buffer {
  const isZlib = (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
  return isZlib ? inflateSync(body, options) : inflateRawSync(body, options);
}

/** Passes a compressed body on as if the node had sent its content. */
export class DecompressedResponse implements ResponseConsumer {
  private readonly consumer: ResponseConsumer;
  private readonly coding: ContentCoding;
  private head: ResponseHead | null = null;
  private readonly pieces: Buffer[] = [];
  private length = 0;

  constructor(consumer: ResponseConsumer, coding: ContentCoding) {
    this.consumer = consumer;
    this.coding = coding;
  }

  begin(head: ResponseHead): void {
    this.head = head;
  }

  /** Throws UpstreamError `too-large`. */
  write(piece: Buffer): boolean {
    this.length += piece.length;
    if (this.length > MAX_COMPRESSED)
      throw new UpstreamError('too-large', `a compressed answer of over ${MAX_COMPRESSED} bytes`);
    this.pieces.push(Buffer.from(piece)); // the memory of the piece is reused
    return true;
  }

  end(last: Buffer): void {
    const { head, consumer } = this;
    if (head === null) return;
    let content: Buffer;
    try {
      this.write(last);
      content = this.content();
    } catch (error) {
      return consumer.abort(error instanceof UpstreamError ? error : this.failure(error));
    }
    consumer.begin({ ...head, length: content.length, chunked: false, coding: null });
    consumer.end(content);
  }

  abort(error: UpstreamError): void {
    this.consumer.abort(error);
  }

  private content(): Buffer {
    if (this.length === 0) return Buffer.alloc(0); // an empty body is sent as it is
    return DECOMPRESS[this.coding](Buffer.concat(this.pieces), { maxOutputLength: MAX_CONTENT });
  }

  private failure(cause: unknown): UpstreamError {
    const isLarge = cause instanceof RangeError;
    const reason = isLarge ? 'too-large' : 'malformed';
    const what = isLarge ? `over ${MAX_CONTENT} bytes` : 'broken';
    return new UpstreamError(reason, `the node sent a ${this.coding} body that is ${what}`, undefined, {
      cause,
    });
  }
}
