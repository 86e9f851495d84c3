/**
 * Protects against request smuggling. The library uses the first `Content-Length`, reads an empty one as 0 and any
 * `Transfer-Encoding` as chunked. A proxy in front may decide otherwise; then one side parses as a request what the
 * other reads as a body. Ambiguous requests get a 400 and their connection is closed (RFC 9112, 6.3). The library
 * itself refuses `Content-Length` together with `Transfer-Encoding`.
 */
import { guarded } from '../../lib/guard.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';

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
    const problem = framingProblem(req);
    if (problem !== null) refuse(res, problem);
    else if (codings > 0 && !readsBody) res.close();
    else handle(res, req);
  };
}

/**
 * Answers 400 and closes in the next turn of the event loop. While an answer is pending, the library closes a
 * connection that sends another request, so it never parses bytes after the ambiguous body as a request.
 */
function refuse(res: HttpResponse, problem: string): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  const answer = guarded('ambiguous request', () => {
    if (gone) return;
    res.cork(() => {
      res.writeStatus('400 Bad Request').writeHeader('Content-Type', 'text/plain').end(`${problem}\n`, true);
    });
  });
  setImmediate(answer);
}

// Module variables, because this runs for every request and a closure would double its cost. A header lookup does not
// distinguish an empty header from an absent one.
let lengths = 0;
let length = '';
let codings = 0;
let coding = '';

function countHeader(name: string, value: string): void {
  if (name === 'content-length') {
    lengths++;
    length = value;
  } else if (name === 'transfer-encoding') {
    codings++;
    coding = value;
  }
}

/** What is wrong with the framing of a request's body, in one line, or null. */
function framingProblem(req: HttpRequest): string | null {
  lengths = 0;
  codings = 0;
  req.forEach(countHeader);
  if (lengths > 1) return 'more than one Content-Length';
  if (codings > 1) return 'more than one Transfer-Encoding';
  if (lengths === 1 && !/^\d+$/.test(length)) return 'Content-Length is not a number';
  if (codings === 1 && coding.toLowerCase() !== 'chunked')
    return 'only Transfer-Encoding: chunked is supported';
  return null;
}
