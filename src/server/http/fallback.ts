/** Answers requests that match no route: preflights, wrong methods, unknown paths. */
import { RequestError } from '../../lib/errors.ts';
import type { UnknownPage } from '../pages/static.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import {
  type Answer,
  errorAnswer,
  jsonAnswer,
  notFound,
  preflightHeaders,
  rateLimitHeaders,
  tooManyRequests,
  unauthorized,
} from './answer.ts';
import { closeIfChunked, isChunked } from './body.ts';
import type { ReplyWriter } from './reply.ts';
import { authenticate, type ClientAccess } from './request.ts';
import { type HttpMetrics, methodAdapterFor, routeMeter, sendMetered } from './route.ts';

interface FallbackDeps {
  /** The one method that a known path accepts. */
  methodOf: (path: string) => 'GET' | 'POST' | undefined;
  /** Whether only requests with a valid key may learn that the path exists. */
  needsKey: (path: string) => boolean;
  unknownPage: UnknownPage;
  access: ClientAccess;
  replies: ReplyWriter;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Registers the catch-all routes. */
export function addFallback(app: TemplatedApp, deps: FallbackDeps): void {
  const { replies, cors } = deps;
  const meter = routeMeter(deps.metrics, 'other');

  app.options('/*', (res, req) => {
    // A 200 with a body instead of a 204: only the buffering of bodies is bounded (write-answer.ts).
    const preflight = () => closeIfChunked(req, jsonAnswer(200, '{}', cors(req) + preflightHeaders(req)));
    sendMetered(meter, replies, res, preflight);
  });
  app.any('/*', (res: HttpResponse, req: HttpRequest) =>
    sendMetered(meter, replies, res, () => {
      const answer = methodAdapterFor(req)(refusal(req, deps));
      return answer instanceof Promise ? answer : closeIfChunked(req, answer);
    }),
  );
}

function refusal(
  req: HttpRequest,
  { methodOf, needsKey, unknownPage, access, cors }: FallbackDeps,
): Answer | Promise<Answer> {
  const path = req.getUrl();
  let headers = cors(req);
  if (needsKey(path)) {
    const key = authenticate(access, req);
    if (key === null) return unauthorized(headers);
    const admission = access.limiter.admit(key, 1);
    if (!admission.ok) return tooManyRequests(admission, headers);
    headers += rateLimitHeaders(admission);
  }
  const method = methodOf(path);
  if (method === undefined) {
    const page = needsKey(path) || isChunked(req) ? null : unknownPage(req);
    return page ?? notFound(headers);
  }
  const allowed = method === 'GET' ? 'GET, HEAD' : method;
  const error = new RequestError(405, 'method_not_allowed', `use ${method}`);
  return errorAnswer(error, `${headers}\r\nAllow: ${allowed}, OPTIONS`);
}
