/** Routes of GET. */
import { withoutBody } from './answer.ts';
import { isChunked } from './body.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

/** Adapts an answer to the request's method, GET or HEAD. */
export type MethodAdapter = typeof withoutBody;

const unchanged: MethodAdapter = <T>(answer: T): T => answer;

/** The adapter for a request's method, where one handler answers several. */
export function methodAdapterFor(req: HttpRequest): MethodAdapter {
  return req.getMethod() === 'head' ? withoutBody : unchanged;
}

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** Registers what answers GET, and HEAD in the same way but without the body. Who sends a body in chunks is cut off. */
export function addGetRoute(
  app: TemplatedApp,
  path: string,
  makeHandler: (adapt: MethodAdapter) => Handler,
): void {
  app.get(path, rejectChunked(makeHandler(unchanged)));
  app.head(path, rejectChunked(makeHandler(withoutBody)));
}

function rejectChunked(handle: Handler): Handler {
  return (res, req) => {
    if (isChunked(req)) res.close();
    else handle(res, req);
  };
}
