/** Reads request bodies within limits. */
import { PerKeyLimit } from '../../lib/limits.ts';
import type { HttpRequest, HttpResponse } from '../uws.ts';
import type { Answer } from './answer.ts';
import type { DeferredReply } from './deferred-reply.ts';

/**
 * A body may have this many chunks, plus one per BYTES_PER_CHUNK bytes. Each chunk costs 3 µs and 100 bytes of memory:
 * two million one-byte chunks (six bytes each on the wire) would block all clients for seconds.
 */
const FREE_CHUNKS = 1_000;
const BYTES_PER_CHUNK = 64;

/** Whether Content-Length exceeds `limit` bytes. */
export function contentLengthExceeds(req: HttpRequest, limit: number): boolean {
  return Number(req.getHeader('content-length')) > limit;
}

/**
 * Whether the body is chunked. The library skips the chunks of an unread body and serves no other connection meanwhile,
 * so a flood of small chunks would delay every client.
 */
export function isChunked(req: HttpRequest): boolean {
  return req.getHeader('transfer-encoding') !== '';
}

/** The error message for a body with Content-Encoding. */
export const UNENCODED_ONLY = 'send the body without Content-Encoding';

/** Whether the body has a Content-Encoding, which this server refuses. */
export function isEncoded(req: HttpRequest): boolean {
  const encoding = req.getHeader('content-encoding');
  return encoding !== '' && encoding.trim().toLowerCase() !== 'identity';
}

/** The answer to a request whose body stays unread. Closes the connection after a chunked body. */
export function closeIfChunked(req: HttpRequest, answer: Answer): Answer {
  return isChunked(req) ? { ...answer, close: true } : answer;
}

/** Most bytes of incomplete bodies per key. Without it, ten thousand connections could hold 20 GB. */
const MAX_PARTIAL_BYTES_PER_KEY = 32 * 2 ** 20;

/** Bounds the memory of the incomplete bodies of each key. */
export class BodyBudget {
  private readonly limit = new PerKeyLimit(MAX_PARTIAL_BYTES_PER_KEY);

  /** Opens the reservation of a new body. */
  open(key: number): BodyReservation {
    return new BodyReservation(this.limit, key);
  }
}

/** The share of one incomplete body in its key's budget. */
export class BodyReservation {
  private readonly limit: PerKeyLimit;
  private readonly key: number;
  private bytes = 0;

  constructor(limit: PerKeyLimit, key: number) {
    this.limit = limit;
    this.key = key;
  }

  /** Reserves more bytes. Returns false, and reserves nothing, when they exceed the key's budget. */
  grow(bytes: number): boolean {
    if (!this.limit.tryAcquire(this.key, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  /** Call when the body is complete or abandoned. */
  release(): void {
    if (this.bytes > 0) this.limit.release(this.key, this.bytes);
    this.bytes = 0;
  }
}

/** The reply to a request whose body is read. */
type GuardedReply = Pick<DeferredReply, 'guardBodyHandler'>;

/**
 * Collects the body and passes it to `answer` once, or passes null as soon as it exceeds `limit` bytes. An error that
 * `answer` throws becomes a 500. The body may lie in memory of the library, so it is valid only until `answer` returns.
 * Never calls `answer` when the client disconnects first or is cut off for too many chunks or an exhausted budget. The
 * caller releases `reservation` when the client disconnects; it is null where `limit` alone bounds the body.
 */
export function collectBody(
  res: HttpResponse,
  reply: GuardedReply,
  limit: number,
  reservation: BodyReservation | null,
  answer: (body: Buffer | null) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  res.onData((chunk, isLast) => {
    if (bytes > limit) return;
    bytes += chunk.byteLength;
    if (isLast && bytes === chunk.byteLength && bytes <= limit)
      return reply.guardBodyHandler(answer, Buffer.from(chunk)); // most bodies: no copy
    if (bytes > limit) {
      reservation?.release();
      return reply.guardBodyHandler(answer, null);
    }
    if (!isLast && reservation !== null && !reservation.grow(chunk.byteLength)) return void res.close();
    if (chunks.length > FREE_CHUNKS + bytes / BYTES_PER_CHUNK) return void res.close();
    chunks.push(Buffer.from(new Uint8Array(chunk))); // the library reuses the memory of the chunk
    if (!isLast) return;
    reservation?.release();
    reply.guardBodyHandler(answer, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
  });
}
