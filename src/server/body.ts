/** Request bodies, bounded. */
import type { HttpRequest, HttpResponse } from './uws.ts';

/**
 * Pieces in which a body may come, and further ones for its bytes: each costs 3 us and 100 bytes of memory, so that two
 * million of one byte, which are chunks of six, would hold up everybody for seconds.
 */
const FREE_PIECES = 1_000;
const BYTES_PER_PIECE = 64;

/** Whether the request itself says that its body is longer than `limit` bytes. */
export function announcesMoreThan(req: HttpRequest, limit: number): boolean {
  return Number(req.getHeader('content-length')) > limit;
}

/**
 * Gathers the body and hands it over once, or null as soon as it is longer than `limit` bytes. Never calls back when the
 * client goes first, or is cut off because the body comes in crumbs.
 */
export function collectBody(res: HttpResponse, limit: number, done: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  res.onData((chunk, isLast) => {
    if (bytes > limit) return;
    bytes += chunk.byteLength;
    if (bytes > limit) return done(null);
    if (chunks.length > FREE_PIECES + bytes / BYTES_PER_PIECE) return void res.close();
    chunks.push(Buffer.from(new Uint8Array(chunk))); // a copy: the library takes the chunk's memory back
    if (isLast) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
  });
}
