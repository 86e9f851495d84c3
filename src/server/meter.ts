/** Counting answers per route. */
import type { Metrics } from '../metrics.ts';
import type { Answer } from './answer.ts';
import type { ReplyWriter } from './reply.ts';
import type { HttpResponse } from './uws.ts';

export type HttpMetrics = Pick<Metrics, 'httpRequests' | 'httpSeconds'>;

/** Counts one answer; `startedAt` is performance.now() when the request arrived. */
export type RequestMeter = (status: number, startedAt: number) => void;

/** The meter of a route. Its label is the route's pattern, never what a client sent. */
export function routeMeter(metrics: HttpMetrics, route: string): RequestMeter {
  const seconds = metrics.httpSeconds.child({ route });
  const byStatus = new Map<number, { inc(): void }>();
  return (status, startedAt) => {
    let count = byStatus.get(status);
    if (count === undefined) {
      count = metrics.httpRequests.child({ route, status: String(status) });
      byStatus.set(status, count);
    }
    count.inc();
    seconds.observe((performance.now() - startedAt) / 1000);
  };
}

/** Answers a request (reply.ts, `sendOrDefer`), and counts the answer. */
export function sendMetered(
  meter: RequestMeter,
  replies: ReplyWriter,
  res: HttpResponse,
  respond: () => Answer | Promise<Answer>,
): void {
  const startedAt = performance.now();
  replies.sendOrDefer(res, respond, (status) => meter(status, startedAt));
}
