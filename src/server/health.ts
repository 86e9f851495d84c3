/** Routes without a key for operators and load balancers: alive, ready, and how far the index is. */
import type { IndexStatus } from '../types.ts';
import { jsonAnswer } from './answer.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, routeMeter, sendMetered } from './meter.ts';
import type { ReplyWriter } from './reply.ts';
import { describeStatus } from './status.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';

export interface HealthRouteDeps {
  /** The state that everybody may see. */
  publicState: () => IndexStatus;
  /** Why the service is not ready, or null when it is. */
  readinessProbe: () => string | null;
  replies: ReplyWriter;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

interface HealthAnswer {
  status: 200 | 503;
  body: object;
}

/** Registers /healthz, /readyz and /status and returns these paths. */
export function addHealthRoutes(app: TemplatedApp, deps: HealthRouteDeps): string[] {
  const answers: Record<string, () => HealthAnswer> = {
    '/healthz': () => ({ status: 200, body: { status: 'ok' } }),
    '/readyz': () => {
      const reason = deps.readinessProbe();
      return reason === null
        ? { status: 200, body: { ready: true } }
        : { status: 503, body: { ready: false, reason } };
    },
    '/status': () => ({
      status: 200,
      body: describeStatus(deps.publicState(), Date.now()),
    }),
  };
  for (const [path, answer] of Object.entries(answers)) addRoute(app, deps, path, answer);
  return Object.keys(answers);
}

function addRoute(
  app: TemplatedApp,
  { replies, cors, metrics }: HealthRouteDeps,
  path: string,
  answer: () => HealthAnswer,
): void {
  const meter = routeMeter(metrics, path);
  addGetRoute(app, path, (adapt) => (res, req) => {
    sendMetered(meter, replies, res, () => {
      const { status, body } = answer();
      return adapt(jsonAnswer(status, JSON.stringify(body), cors(req)));
    });
  });
}
