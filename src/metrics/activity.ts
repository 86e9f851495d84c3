/**
 * The daemon's activity in the last hour, for the panel, which must work without Prometheus. One sample every ten
 * seconds, with the counts since the previous sample.
 */
import { guarded } from '../lib/guard.ts';
import { type IndexStatus, lagBlocks, lagSeconds } from '../model/index-status.ts';
import type { HotPathCounter } from './hot-path-metrics.ts';
import type { Metrics } from './metrics.ts';

const SAMPLE_MS = 10_000;
const MAX_SAMPLES = 360;

/** Routes of the pages and the panel, which do not count as traffic. */
const OWN_ROUTE = /^(?:asset$|\/admin)/;

type ActivityMetrics = Pick<
  Metrics,
  | 'httpRequests'
  | 'httpServerErrors'
  | 'rpcRequests'
  | 'rpcCacheHits'
  | 'rpcLocal'
  | 'rpcMerged'
  | 'takeLongestLoopDelay'
>;

/** Counts since the start of the daemon. */
interface ActivityTotals {
  /** HTTP answers, except those to the panel. */
  requests: number;
  /** Answers with 5xx that report a fault: not those of /readyz, nor `not_ready`. */
  errors: number;
  /** Answers with status 4xx. */
  refusals: number;
  /** JSON-RPC calls over HTTP and WebSocket. */
  rpcCalls: number;
  /** Those answered without the node: from a cache, or by joining an equal call in flight. */
  cacheHits: number;
}

interface ActivitySample extends ActivityTotals {
  /** Unix milliseconds. */
  at: number;
  lagBlocks: number | null;
  lagSeconds: number | null;
  residentBytes: number;
  /** The longest delay of the event loop. */
  loopDelaySeconds: number;
}

export interface Activity {
  totals: ActivityTotals;
  residentBytes: number;
  heapBytes: number;
  /** Oldest first. */
  samples: readonly ActivitySample[];
}

export class ActivityLog {
  private readonly metrics: ActivityMetrics;
  private readonly status: () => IndexStatus;
  private readonly timer: NodeJS.Timeout;
  private readonly samples: ActivitySample[] = [];
  private sampled: ActivityTotals;

  constructor(metrics: ActivityMetrics, status: () => IndexStatus) {
    this.metrics = metrics;
    this.status = status;
    this.sampled = this.totals();
    this.sample();
    this.timer = setInterval(
      guarded('sample of the activity', () => this.sample()),
      SAMPLE_MS,
    ).unref();
  }

  read(): Activity {
    const { rss, heapUsed } = process.memoryUsage();
    return { totals: this.totals(), residentBytes: rss, heapBytes: heapUsed, samples: this.samples };
  }

  close(): void {
    clearInterval(this.timer);
  }

  private sample(): void {
    const before = this.sampled;
    const now = this.totals();
    const status = this.status();
    this.sampled = now;
    this.samples.push({
      at: Date.now(),
      lagBlocks: lagBlocks(status),
      lagSeconds: lagSeconds(status, Date.now()),
      requests: now.requests - before.requests,
      errors: now.errors - before.errors,
      refusals: now.refusals - before.refusals,
      rpcCalls: now.rpcCalls - before.rpcCalls,
      cacheHits: now.cacheHits - before.cacheHits,
      residentBytes: process.memoryUsage.rss(),
      loopDelaySeconds: this.metrics.takeLongestLoopDelay(),
    });
    if (this.samples.length > MAX_SAMPLES) this.samples.shift();
  }

  private totals(): ActivityTotals {
    const { httpRequests, httpServerErrors, rpcRequests, rpcCacheHits, rpcLocal, rpcMerged } = this.metrics;
    const http = (pattern: RegExp) =>
      httpRequests.total(({ route, status }) => !OWN_ROUTE.test(route) && pattern.test(status));
    const all = <L extends string>(counter: HotPathCounter<L>) => counter.total(() => true);
    return {
      requests: http(/./),
      errors: httpServerErrors.total(({ route }) => !OWN_ROUTE.test(route)),
      refusals: http(/^4/),
      rpcCalls: all(rpcRequests),
      cacheHits: all(rpcCacheHits) + all(rpcLocal) + all(rpcMerged),
    };
  }
}
