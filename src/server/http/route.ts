/** Registers GET routes and meters the answers of every route. */

import type { Metrics } from '../../metrics/metrics.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import { type Answer, type AnswerOutcome, withoutBody } from './answer.ts';
import type { BodyBudget } from './body.ts';
import type { ReplyWriter } from './reply.ts';
import type { ClientAccess } from './request.ts';

/** The dependencies of all routes that require a key. */
export interface KeyedRouteDeps {
  access: ClientAccess;
  bodyBudget: BodyBudget;
  replies: ReplyWriter;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Adapts an answer to the request's method, GET or HEAD. */
export type MethodAdapter = typeof withoutBody;

const unchanged: MethodAdapter = <T>(answer: T): T => answer;

/** The adapter for a request's method, for handlers of several methods. */
export function methodAdapterFor(req: HttpRequest): MethodAdapter {
  return req.getMethod() === 'head' ? withoutBody : unchanged;
}

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** Registers a handler for GET and HEAD. */
export function addGetRoute(
  app: TemplatedApp,
  path: string,
  makeHandler: (adapt: MethodAdapter) => Handler,
): void {
  app.get(path, makeHandler(unchanged));
  app.head(path, makeHandler(withoutBody));
}

export type HttpMetrics = Pick<Metrics, 'httpRequests' | 'httpServerErrors' | 'httpSeconds'>;

/** Counts one answer; `startedAt` is performance.now() when the request arrived. */
export type RequestMeter = (answer: AnswerOutcome, startedAt: number) => void;

/** The meter of a route. Its label is the route's pattern, never client input. */
export function routeMeter(metrics: HttpMetrics, route: string): RequestMeter {
  const seconds = metrics.httpSeconds.child({ route });
  const byStatus = new Map<number, { inc(): void }>();
  return ({ status, isExpected = false }, startedAt) => {
    let count = byStatus.get(status);
    if (count === undefined) {
      count = metrics.httpRequests.child({ route, status: String(status) });
      byStatus.set(status, count);
    }
    count.inc();
    if (status >= 500 && !isExpected) metrics.httpServerErrors.child({ route, status: String(status) }).inc();
    seconds.observe((performance.now() - startedAt) / 1000);
  };
}

/** Answers a request with `sendOrDefer` (reply.ts) and counts the answer. `onAborted`: the client has left. */
export function sendMetered(
  meter: RequestMeter,
  replies: ReplyWriter,
  res: HttpResponse,
  respond: () => Answer | Promise<Answer>,
  onAborted?: () => void,
): void {
  const startedAt = performance.now();
  replies.sendOrDefer(res, respond, (answer) => meter(answer, startedAt), onAborted);
}
