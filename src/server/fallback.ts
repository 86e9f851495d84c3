/** Requests that match no route: preflights, wrong methods, unknown paths. */
import { RequestError } from '../errors.ts';
import {
  type Answer,
  allowanceLines,
  errorAnswer,
  jsonAnswer,
  limitedAnswer,
  unauthorized,
} from './answer.ts';
import { unread } from './body.ts';
import { PREFLIGHT_LINES } from './cors.ts';
import { callerOf, type Gate } from './gate.ts';
import { shapeFor } from './get-route.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { Replies } from './reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

export interface FallbackRoutes {
  /** Known paths and the one method each has. */
  methods: ReadonlyMap<string, 'GET' | 'POST'>;
  /** Whether only requests with a valid key learn if the path exists. */
  needsKey: (path: string) => boolean;
  gate: Gate;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Registers the routes of last resort. */
export function addFallback(app: TemplatedApp, routes: FallbackRoutes): void {
  const { replies, cors } = routes;
  const meter = routeMeter(routes.metrics, 'other');

  app.options('/*', (res, req) => {
    // With a body, which reply.ts can bound; 204 could have none.
    replies.now(res, () => unread(req, jsonAnswer(200, '{}', cors(req) + PREFLIGHT_LINES)));
  });
  app.any('/*', (res: HttpResponse, req: HttpRequest) => {
    const began = performance.now();
    meter(
      replies.now(res, () => unread(req, shapeFor(req)(refusal(req, routes)))),
      began,
    );
  });
}

function refusal(req: HttpRequest, { methods, needsKey, gate, cors }: FallbackRoutes): Answer {
  const path = req.getUrl();
  let lines = cors(req);
  if (needsKey(path)) {
    const key = callerOf(gate, req);
    if (key === null) return unauthorized(lines);
    const verdict = gate.limiter.take(key, 1);
    if (!verdict.ok) return limitedAnswer(verdict, lines);
    lines += allowanceLines(verdict);
  }
  const method = methods.get(path);
  const error =
    method === undefined
      ? new RequestError(404, 'not_found', 'there is nothing at this path')
      : new RequestError(405, 'method_not_allowed', `use ${method}`);
  const allowed = method === 'GET' ? 'GET, HEAD' : method;
  const allow = method === undefined ? '' : `\r\nAllow: ${allowed}, OPTIONS`;
  return errorAnswer(error, lines + allow);
}
