/**
 * Protects against request smuggling. The library uses the first `Content-Length`, reads an empty one as 0 and any
 * `Transfer-Encoding` as chunked. A proxy in front may decide otherwise; then one side parses as a request what the
 * other reads as a body. Ambiguous requests get a 400 and their connection is closed (RFC 9112, 6.3). The library
 * itself refuses `Content-Length` together with `Transfer-Encoding`.
 *
 * So do requests that announce trailers, which the library reads as the next request.
 */
import { guarded } from '../../lib/guard.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import { type Answer, unreadable } from './answer.ts';
import { writeHead } from './write-answer.ts';

type Handler = Parameters<TemplatedApp['any']>[1];

/**
 * Makes every route that is registered on the app after this call refuse ambiguous framing. GET and HEAD also cut off a
 * client that sends a chunked body, because nothing would read it (body.ts).
 */
export function guardFraming(app: TemplatedApp): void {
  for (const method of ['get', 'head', 'post', 'options', 'del', 'any'] as const) {
    const register = app[method].bind(app);
    const readsBody = method !== 'get' && method !== 'head';
    app[method] = (path, handler) => register(path, refuseAmbiguous(handler, readsBody));
  }
}

function refuseAmbiguous(handle: Handler, readsBody: boolean): Handler {
  return (res, req) => {
    const framing = framingReader.read(req);
    if (framing === 'trailers') refuseTrailers(res, req);
    else if (typeof framing === 'object') refuse(res, unreadable(req.getUrl(), framing.problem));
    else if (framing === 'chunked' && !readsBody) res.close();
    else handle(res, req);
  };
}

/**
 * Answers 400 and closes in the next turn of the event loop. While an answer is pending, the library closes a
 * connection that sends another request, so it never parses bytes after the ambiguous body as a request.
 */
function refuse(res: HttpResponse, answer: Answer): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  const write = guarded('ambiguous request', () => {
    if (gone) return;
    res.cork(() => close(res, answer, ''));
  });
  setImmediate(write);
}

/** More than the library holds back. */
const FLUSHED_BYTES = 16 * 1024;

/**
 * Answers in the handler and closes. The library replaces what it has not sent yet by a page of its own when it meets
 * the trailers, so spaces after the JSON make it send the answer at once. Once closed, nothing more is read.
 */
function refuseTrailers(res: HttpResponse, req: HttpRequest): void {
  const answer = unreadable(req.getUrl(), 'trailers are not supported; send the request without them');
  close(res, answer, ' '.repeat(FLUSHED_BYTES));
}

function close(res: HttpResponse, { body, ...head }: Answer, padding: string): void {
  writeHead(res, head);
  res.end(`${body}${padding}`, true);
}

/** How a request delimits its body, or what is wrong with its framing, in one line. */
type Framing = 'no body' | 'length' | 'chunked' | 'trailers' | { problem: string };

/**
 * Reads the framing of a request. A header lookup returns the first of several values and does not distinguish an empty
 * header from an absent one, so this counts them. One object with one callback serves all requests, because a closure
 * per request would double the cost.
 */
class FramingReader {
  private lengths = 0;
  private length = '';
  private codings = 0;
  private coding = '';
  private hasTrailers = false;

  read(req: HttpRequest): Framing {
    this.lengths = 0;
    this.codings = 0;
    this.hasTrailers = false;
    req.forEach(this.count);
    if (this.lengths > 1) return { problem: 'more than one Content-Length' };
    if (this.codings > 1) return { problem: 'more than one Transfer-Encoding' };
    if (this.lengths === 1 && !/^\d+$/.test(this.length))
      return { problem: 'Content-Length is not a number' };
    if (this.codings === 0) return this.lengths === 0 ? 'no body' : 'length';
    if (this.coding.toLowerCase() === 'chunked') return this.hasTrailers ? 'trailers' : 'chunked';
    return { problem: 'only Transfer-Encoding: chunked is supported' };
  }

  private readonly count = (name: string, value: string): void => {
    if (name === 'content-length') {
      this.lengths++;
      this.length = value;
    } else if (name === 'transfer-encoding') {
      this.codings++;
      this.coding = value;
    } else if (name === 'trailer') {
      this.hasTrailers = true;
    }
  };
}

const framingReader = new FramingReader();
