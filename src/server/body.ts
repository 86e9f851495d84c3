/** Request bodies, bounded. */
import { PerKeyLimit } from '../lib/per-key-limit.ts';
import type { Answer } from './answer.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

/**
 * A body may arrive in this many chunks, and in one more per BYTES_PER_CHUNK bytes. Each chunk costs 3 us and 100 bytes
 * of memory: two million chunks of one byte (six on the wire) would block all clients for seconds.
 */
const FREE_CHUNKS = 1_000;
const BYTES_PER_CHUNK = 64;

/** Whether the request itself says that its body is longer than `limit` bytes. */
export function contentLengthExceeds(req: HttpRequest, limit: number): boolean {
  return Number(req.getHeader('content-length')) > limit;
}

/**
 * Whether the body comes in chunks. When nobody reads it, the library skips its chunks for as long as they come, and
 * serves no other connection meanwhile: a flood of small chunks would hold up everybody.
 */
export function isChunked(req: HttpRequest): boolean {
  return req.getHeader('transfer-encoding') !== '';
}

/** The answer to a request whose body is not read. */
export function closeIfChunked(req: HttpRequest, answer: Answer): Answer {
  return isChunked(req) ? { ...answer, close: true } : answer;
}

/** Bytes that one key may have sent at once of incomplete bodies: on ten thousand connections it could be 20 GB. */
const MAX_PARTIAL_BYTES_PER_KEY = 32 * 2 ** 20;

/** How much memory the incomplete bodies of each key may take. */
export class BodyBudget {
  private readonly limit = new PerKeyLimit(MAX_PARTIAL_BYTES_PER_KEY);

  /** The reservation for the body of a request that begins. */
  open(key: number): BodyReservation {
    return new BodyReservation(this.limit, key);
  }
}

/** The part of a key's budget that one incomplete body takes. */
export class BodyReservation {
  private readonly limit: PerKeyLimit;
  private readonly key: number;
  private bytes = 0;

  constructor(limit: PerKeyLimit, key: number) {
    this.limit = limit;
    this.key = key;
  }

  /** Whether the key may have so many bytes more. */
  grow(bytes: number): boolean {
    if (!this.limit.tryAcquire(this.key, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  /** The body is complete, or not wanted any more. */
  release(): void {
    if (this.bytes > 0) this.limit.release(this.key, this.bytes);
    this.bytes = 0;
  }
}

/**
 * Collects the body and hands it over once, or null as soon as it is longer than `limit` bytes. Never calls back when
 * the client leaves first, or is cut off because the body has too many chunks or its key has no budget left. The caller
 * releases the `reservation` when the client is gone; it is null where the limit alone bounds the body.
 */
export function collectBody(
  res: HttpResponse,
  limit: number,
  reservation: BodyReservation | null,
  done: (body: Buffer | null) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  res.onData((chunk, isLast) => {
    if (bytes > limit) return;
    bytes += chunk.byteLength;
    if (bytes > limit) {
      reservation?.release();
      return done(null);
    }
    if (!isLast && reservation !== null && !reservation.grow(chunk.byteLength)) return void res.close();
    if (chunks.length > FREE_CHUNKS + bytes / BYTES_PER_CHUNK) return void res.close();
    chunks.push(Buffer.from(new Uint8Array(chunk))); // a copy: the library takes the chunk's memory back
    if (!isLast) return;
    reservation?.release();
    done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
  });
}
