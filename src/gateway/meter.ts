/** Counts and times calls. */
import type { Metrics } from '../metrics/metrics.ts';
import { methodLabel } from './methods.ts';

export type RpcMetrics = Pick<
  Metrics,
  'rpcRequests' | 'rpcSeconds' | 'rpcCacheHits' | 'rpcCacheBytes' | 'rpcMerged' | 'rpcLocal'
>;

/** Counts calls under a bounded set of labels, whatever method names clients invent. */
export class RpcMeter {
  private readonly metrics: RpcMetrics;
  private readonly byLabel = new Map<string, MethodMeter>();
  /** Meters of methods with their own label, which saves most calls a lookup. */
  private readonly byMethod = new Map<string, MethodMeter>();

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

  /** A call was answered from the head cache. */
  recordHeadCacheHit(method: string): void {
    this.meterFor(method).headHits.inc();
  }

  /** A call joined an equal one in flight. */
  recordMerged(method: string): void {
    this.meterFor(method).merged.inc();
  }

  setCacheBytes(bytes: number): void {
    this.metrics.rpcCacheBytes.set(bytes);
  }

  private meterFor(method: string): MethodMeter {
    const known = this.byMethod.get(method);
    if (known !== undefined) return known;
    const label = methodLabel(method);
    const meter = this.byLabel.get(label) ?? this.addMeter(label);
    if (label === method) this.byMethod.set(label, meter);
    return meter;
  }

  private addMeter(label: string): MethodMeter {
    const meter: MethodMeter = {
      label,
      seconds: this.metrics.rpcSeconds.child({ method: label }),
      byStatus: new Map(),
      hits: this.metrics.rpcCacheHits.child({ method: label }),
      headHits: this.metrics.rpcLocal.child({ method: label }),
      merged: this.metrics.rpcMerged.child({ method: label }),
    };
    this.byLabel.set(label, meter);
    return meter;
  }
}

/** The metrics of one method, looked up once: finding them by label would be half the cost of counting. */
interface MethodMeter {
  label: string;
  seconds: { observe(value: number): void };
  byStatus: Map<number, { inc(): void }>;
  hits: { inc(): void };
  headHits: { inc(): void };
  merged: { inc(): void };
}
