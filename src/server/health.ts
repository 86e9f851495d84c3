/** What operators and load balancers ask without a key: alive, ready, and how far the index is. */
import type { Logger } from '../log.ts';
import type { IndexStatus } from '../types.ts';
import { jsonAnswer } from './answer.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { Replies } from './reply.ts';
import { describeStatus, readiness, StallWatch, withoutAddresses } from './status.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';

/** How often the progress of the index is looked at. */
const WATCH_MS = 1_000;

export interface HealthRoutes {
  indexState: () => IndexStatus;
  /** Blocks behind the node's head up to which the service is ready. */
  readyLag: number;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
  log: Logger;
}

/** Registers /healthz, /readyz and /status. Returns the function that ends the watch for stalls. */
export function addHealthRoutes(app: TemplatedApp, options: HealthRoutes): () => void {
  const { readyLag, log } = options;
  const indexState = (): IndexStatus => withoutAddresses(options.indexState());
  const watch = new StallWatch(log);
  const timer = setInterval(() => watch.observe(options.indexState(), Date.now()), WATCH_MS).unref();

  addRoute(app, options, '/healthz', () => ({ status: 200, body: { status: 'ok' } }));
  addRoute(app, options, '/readyz', () => {
    const state = indexState();
    const reason = readiness(state, readyLag, watch.stalled(state, Date.now()));
    return reason === null
      ? { status: 200, body: { ready: true } }
      : { status: 503, body: { ready: false, reason } };
  });
  addRoute(app, options, '/status', () => ({ status: 200, body: describeStatus(indexState(), Date.now()) }));
  return () => clearInterval(timer);
}

function addRoute(
  app: TemplatedApp,
  { replies, cors, metrics }: HealthRoutes,
  path: string,
  answer: () => { status: 200 | 503; body: object },
): void {
  const meter = routeMeter(metrics, path);
  addGetRoute(app, path, (shape) => (res, req) => {
    const began = performance.now();
    const sent = replies.now(res, () => {
      const { status, body } = answer();
      return shape(jsonAnswer(status, JSON.stringify(body), cors(req)));
    });
    meter(sent, began);
  });
}
