/** The routes /healthz, /readyz and /status, which need no key. */
import { sep } from 'node:path';
import type * as z from 'zod';
import type { HEALTH_ROUTES, statusSchema } from '../../api/openapi/openapi-health.ts';
import type { ClusterStatus } from '../../model/cluster-status.ts';
import {
  etaSeconds,
  type IndexStatus,
  internalTransfers,
  lagBlocks,
  lagSeconds,
  rebuildBlocks,
} from '../../model/index-status.ts';
import type { SinkStatus } from '../../model/sink-status.ts';
import type { HttpRequest, TemplatedApp } from '../uws.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import { staleReason } from './readiness.ts';
import type { ReplyWriter } from './reply.ts';
import { addGetRoute, type HttpMetrics, routeMeter, sendMetered } from './route.ts';

/** The webhooks part of /status. */
export type HookSummary = NonNullable<z.output<typeof statusSchema>['hooks']>;

interface HealthRouteDeps {
  /** The public part of the state. */
  publicState: () => IndexStatus;
  /** The state of the PostgreSQL sink; absent without a sink. */
  sinkState?: (() => SinkStatus) | undefined;
  /** The state of keys shared with other daemons; absent if keys are not shared. */
  clusterState?: (() => ClusterStatus) | undefined;
  /** `index.stale_seconds`. */
  staleSeconds: number;
  /** Whether new blocks keep arriving in step with time. */
  keepsTime: () => boolean;
  /** Why the service is not ready, null if it is. */
  readinessProbe: () => string | null;
  /** Absent without webhooks. */
  hookSummary?: () => HookSummary;
  replies: ReplyWriter;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
}

/** Registers /healthz, /readyz and /status and returns these paths. */
export function addHealthRoutes(app: TemplatedApp, deps: HealthRouteDeps): string[] {
  const { publicState, staleSeconds, readinessProbe, replies, cors, metrics } = deps;
  const answers: Record<keyof typeof HEALTH_ROUTES, () => [status: Answer['status'], body: object]> = {
    '/healthz': () => [200, { status: 'ok' }],
    '/readyz': () => {
      const reason = readinessProbe();
      return reason === null ? [200, { ready: true }] : [503, { ready: false, reason }];
    },
    '/status': () => [
      200,
      {
        ...describeStatus(publicState(), staleSeconds, Date.now(), {
          sink: deps.sinkState?.(),
          cluster: deps.clusterState?.(),
          keepsTime: deps.keepsTime(),
        }),
        hooks: deps.hookSummary?.() ?? null,
      },
    ],
  };
  for (const [path, answer] of Object.entries(answers)) {
    const meter = routeMeter(metrics, path);
    addGetRoute(app, path, (adapt) => (res, req) => {
      sendMetered(meter, replies, res, () => {
        const [status, body] = answer();
        // A load balancer asks /readyz in order to hear 503.
        return adapt({ ...jsonAnswer(status, JSON.stringify(body), cors(req)), isExpected: true });
      });
    });
  }
  return Object.keys(answers);
}

/** What the state of the indexer does not say. */
interface OtherStates {
  sink?: SinkStatus | undefined;
  cluster?: ClusterStatus | undefined;
  /** Whether new blocks keep arriving in step with time. */
  keepsTime?: boolean;
}

/** The body of /status: the state and figures derived from it. */
export function describeStatus(
  state: IndexStatus,
  staleSeconds: number,
  now: number,
  { sink, cluster, keepsTime }: OtherStates = {},
): Omit<z.output<typeof statusSchema>, 'hooks'> {
  const seconds = lagSeconds(state, now);
  const eta = etaSeconds(state);
  const { complete, reason } = internalTransfers(state);
  return {
    ...state,
    rules: state.rules && { ...state.rules, rebuildBlocks: rebuildBlocks(state) },
    lagBlocks: lagBlocks(state),
    lagSeconds: seconds === null ? null : Math.round(seconds),
    staleReason: staleReason(state, staleSeconds, now, keepsTime),
    etaSeconds: eta === null ? null : Math.round(eta),
    internalTransfers: complete,
    internalTransfersReason: reason,
    sink: sink ?? null,
    cluster: cluster ?? null,
  };
}

/**
 * Patterns that match node addresses, with their replacements: URLs, addresses in socket errors, names in TLS errors.
 */
const NODE_ADDRESS_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"]+/g, 'the node'],
  [/\b(E[A-Z_]{4,}) [^\s",;)]+/g, '$1'],
  [/\b(certificate's altnames): .*?(?=; asked |$)/g, '$1'],
];

/**
 * The state for callers without a token: without the node's address and the path of `dataDir`. The log and the panel
 * show both.
 */
export function redactLocations<S extends Pick<IndexStatus, 'reason' | 'readFailure' | 'nodes'>>(
  state: S,
  dataDir: string,
): S {
  const redact = (text: string | null): string | null =>
    text === null
      ? null
      : NODE_ADDRESS_PATTERNS.reduce(
          (redacted, [address, word]) => redacted.replace(address, word),
          text.replaceAll(dataDir + sep, ''),
        );
  const nodes = state.nodes.map((node) => ({ ...node, address: null, reason: redact(node.reason) }));
  return { ...state, nodes, reason: redact(state.reason), readFailure: redact(state.readFailure) };
}
