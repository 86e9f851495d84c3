import { createMetrics } from '../../src/metrics/metrics.ts';

/** Series names with their labels; histograms by the names of their parts. */
export function metricSeries(): Map<string, string[]> {
  const metrics = createMetrics();
  const series = new Map<string, string[]>();
  for (const metric of Object.values(metrics)) {
    if (typeof metric !== 'object' || !('name' in metric && 'labelNames' in metric)) continue;
    const { name, labelNames } = metric as { name: string; labelNames: readonly string[] };
    if (!('upperBounds' in metric)) series.set(name, [...labelNames]);
    else for (const part of ['bucket', 'sum', 'count']) series.set(`${name}_${part}`, [...labelNames, 'le']);
  }
  metrics.close();
  return series;
}
