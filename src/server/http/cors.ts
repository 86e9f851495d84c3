/** CORS headers of answers and preflights. */
import type { HttpRequest } from '../uws.ts';

const EXPOSED =
  'X-Indexed-Block, X-Next-Cursor, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After';

/** Additional headers of a preflight. */
export const PREFLIGHT_HEADERS =
  '\r\nAccess-Control-Allow-Methods: GET, POST, OPTIONS' +
  '\r\nAccess-Control-Allow-Headers: X-API-Key, Content-Type, If-None-Match' +
  '\r\nAccess-Control-Max-Age: 86400';

/** Returns a function that returns a request's CORS headers, each preceded by CRLF. `origins` as configured. */
export function corsPolicy(origins: readonly string[]): (req: HttpRequest) => string {
  if (origins.includes('*')) {
    const headers = allow('*');
    return () => headers;
  }
  const allowed = new Map(origins.map((origin) => [origin, `\r\nVary: Origin${allow(origin)}`]));
  return (req) => allowed.get(req.getHeader('origin')) ?? '\r\nVary: Origin';
}

function allow(origin: string): string {
  return `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
}
