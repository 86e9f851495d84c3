/** Counting calls. */
import type { Metrics } from '../metrics.ts';
import { methodLabel } from './method-label.ts';

export type RpcMetrics = Pick<
  Metrics,
  'rpcRequests' | 'rpcSeconds' | 'rpcCacheHits' | 'rpcCacheBytes' | 'rpcMerged' | 'rpcLocal'
>;

/** Counts calls under labels that are bounded, whatever methods clients think of. */
export class RpcMeter {
  private readonly metrics: RpcMetrics;
  private readonly methods = new Map<string, MethodMeter>();

  constructor(metrics: RpcMetrics) {
    this.metrics = metrics;
  }

  /** A call was answered. */
  recordAnswer(method: string, status: number, seconds: number): void {
    const meter = this.meterFor(method);
    let count = meter.byStatus.get(status);
    if (count === undefined) {
      count = this.metrics.rpcRequests.child({ method: meter.label, status: String(status) });
      meter.byStatus.set(status, count);
    }
    count.inc();
    meter.seconds.observe(seconds);
  }

  /** A call was answered from the cache. */
  recordCacheHit(method: string): void {
    this.meterFor(method).hits.inc();
  }

  /** A call was answered with what the node said a moment ago. */
  recordLocalAnswer(method: string): void {
    this.meterFor(method).local.inc();
  }

  /** A call shares the answer to an equal one in flight. */
  recordMerged(method: string): void {
    this.meterFor(method).merged.inc();
  }

  setCacheBytes(bytes: number): void {
    this.metrics.rpcCacheBytes.set(bytes);
  }

  private meterFor(method: string): MethodMeter {
    const label = methodLabel(method);
    let meter = this.methods.get(label);
    if (meter === undefined) {
      meter = {
        label,
        seconds: this.metrics.rpcSeconds.child({ method: label }),
        byStatus: new Map(),
        hits: this.metrics.rpcCacheHits.child({ method: label }),
        local: this.metrics.rpcLocal.child({ method: label }),
        merged: this.metrics.rpcMerged.child({ method: label }),
      };
      this.methods.set(label, meter);
    }
    return meter;
  }
}

/** The metrics of one method, looked up once: finding them by label is half the cost of counting. */
interface MethodMeter {
  label: string;
  seconds: { observe(value: number): void };
  byStatus: Map<number, { inc(): void }>;
  hits: { inc(): void };
  local: { inc(): void };
  merged: { inc(): void };
}
