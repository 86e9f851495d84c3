/** Reads request bodies within limits. */
import { RequestError } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import { PerKeyLimit } from '../../lib/limits.ts';
import type { HttpRequest, HttpResponse } from '../uws.ts';
import { type Answer, bodyTooLarge } from './answer.ts';
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

/** Silence in the middle of a body after which the client gets an answer, ms. The library closes after 8 s at least. */
const STALL_MS = 7_000;

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
  private stallTimer: NodeJS.Timeout | undefined;

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

  /** Part of the body has arrived. Calls `onStall` if no more follows in time. */
  watch(onStall: () => void): void {
    this.stallTimer ??= setTimeout(guarded('incomplete body', onStall), STALL_MS).unref();
    this.stallTimer.refresh();
  }

  /** Call when the body is complete or abandoned. */
  release(): void {
    clearTimeout(this.stallTimer);
    this.stallTimer = undefined;
    if (this.bytes > 0) this.limit.release(this.key, this.bytes);
    this.bytes = 0;
  }
}

/** How a chunked body ends on the wire. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/**
 * Whether this is a whole JSON text and the end of a chunked body, which no JSON text contains in that place. The
 * library reads a chunk extension as digits of the chunk's size, and takes what follows for its bytes.
 */
function endsInExtendedChunk(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8', 0, body.length - LAST_CHUNK.length));
    return true;
  } catch {
    return false;
  }
}

const NO_EXTENSIONS = 'chunk extensions are not supported';
const STALLED = `nothing of the body arrived for ${STALL_MS / 1000} s; ${NO_EXTENSIONS}`;

/** The reply to a request whose body is read. */
type GuardedReply = Pick<DeferredReply, 'guardBodyHandler'>;

/**
 * Collects the body and passes it to `answer` once, or passes the fault of a body that exceeds `limit` bytes or does
 * not end. An error that `answer` throws becomes a 500. The body may lie in memory of the library, so it is valid only
 * until `answer` returns. Never calls `answer` when the client disconnects first or is cut off for too many chunks or
 * an
 * exhausted budget. The caller releases `reservation` when the client disconnects; it is null where `limit` alone
 * bounds the body, which must end then.
 */
export function collectBody(
  res: HttpResponse,
  reply: GuardedReply,
  limit: number,
  reservation: BodyReservation | null,
  answer: (body: Buffer | RequestError) => void,
): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  let mayBeExtended = true;
  const fail = (error: RequestError): void => {
    isOver = true;
    chunks = [];
    reservation?.release();
    reply.guardBodyHandler(answer, error);
  };
  const onStall = (): void => void res.cork(() => fail(new RequestError(408, 'invalid_body', STALLED)));
  res.onData((chunk, isLast) => {
    if (isOver) return;
    bytes += chunk.byteLength;
    if (isLast && bytes === chunk.byteLength && bytes <= limit)
      return reply.guardBodyHandler(answer, Buffer.from(chunk)); // most bodies: no copy
    if (bytes > limit) return fail(bodyTooLarge(limit));
    if (!isLast && reservation !== null && !reservation.grow(chunk.byteLength)) return void res.close();
    if (chunks.length > FREE_CHUNKS + bytes / BYTES_PER_CHUNK) return void res.close();
    const copy = Buffer.from(new Uint8Array(chunk)); // the library reuses the memory of the chunk
    chunks.push(copy);
    if (isLast) {
      reservation?.release();
      reply.guardBodyHandler(answer, chunks.length === 1 ? copy : Buffer.concat(chunks, bytes));
    } else if (mayBeExtended && copy.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) {
      mayBeExtended = false; // parsing each such chunk would be too expensive
      if (endsInExtendedChunk(Buffer.concat(chunks, bytes)))
        fail(new RequestError(400, 'invalid_body', NO_EXTENSIONS));
    } else reservation?.watch(onStall);
  });
}
