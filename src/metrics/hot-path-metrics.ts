/**
 * Counters and histograms for events of every request. Their children count in plain numbers, whereas prom-client looks
 * up a child by its label text, and a bucket by its bound's text, each time.
 */
import type { CounterConfiguration } from 'prom-client';
import { Counter } from './prom-client.ts';

/** One label combination of a counter. */
class CounterChild {
  /** Events since the last rendering. */
  uncollected = 0;
  collected = 0;

  inc(): void {
    this.uncollected += 1;
  }
}

export class HotPathCounter<L extends string = string> extends Counter<L> {
  private readonly children: Map<string, { labels: Record<L, string>; count: CounterChild }>;

  constructor(configuration: CounterConfiguration<L>) {
    const children: HotPathCounter<L>['children'] = new Map();
    super({
      ...configuration,
      collect() {
        for (const { labels, count } of children.values()) {
          if (count.uncollected > 0) this.inc(labels, count.uncollected);
          count.collected += count.uncollected;
          count.uncollected = 0;
        }
      },
    });
    this.children = children;
  }

  /** The child with these labels. Callers should keep it. */
  child(labels: Record<L, string>): CounterChild {
    const name = JSON.stringify(labels);
    const known = this.children.get(name);
    if (known !== undefined) return known.count;
    const count = new CounterChild();
    this.children.set(name, { labels, count });
    return count;
  }

  /** Total of the children whose labels match. */
  total(matches: (labels: Record<L, string>) => boolean): number {
    let total = 0;
    for (const { labels, count } of this.children.values())
      if (matches(labels)) total += count.collected + count.uncollected;
    return total;
  }
}

/** One label combination of a histogram. */
class HistogramChild {
  sum = 0;
  /** Observations per bucket; the last bucket is above all bounds. */
  readonly buckets: number[];
  private readonly bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.buckets = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > this.bounds[bucket]!) bucket++;
    this.buckets[bucket]! += 1;
    this.sum += value;
  }
}

/** A histogram that does not use prom-client. */
export class HotPathHistogram<L extends string = string> {
  readonly name: string;
  readonly labelNames: readonly L[];
  readonly upperBounds: readonly number[];
  private readonly help: string;
  /** Children by rendered labels, because Prometheus accepts each combination once. */
  private readonly children = new Map<string, HistogramChild>();

  /** `upperBounds`: the bounds of the buckets, ascending. */
  constructor(name: string, help: string, upperBounds: readonly number[], labelNames: readonly L[]) {
    this.name = name;
    this.help = help;
    this.upperBounds = upperBounds;
    this.labelNames = labelNames;
  }

  /** The child with these labels. Callers should keep it. Label values must not need escaping. */
  child(labels: Record<L, string>): HistogramChild {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const name = pairs.join();
    const known = this.children.get(name);
    if (known !== undefined) return known;
    const child = new HistogramChild(this.upperBounds);
    this.children.set(name, child);
    return child;
  }

  /** In the Prometheus text format. */
  render(): string {
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} histogram`];
    for (const [labels, child] of this.children) {
      let count = 0;
      for (const [i, observations] of child.buckets.entries()) {
        count += observations;
        lines.push(`${this.name}_bucket{le="${this.upperBounds[i] ?? '+Inf'}",${labels}} ${count}`);
      }
      lines.push(`${this.name}_sum{${labels}} ${child.sum}`, `${this.name}_count{${labels}} ${count}`);
    }
    return `${lines.join('\n')}\n`;
  }
}
