/** The daemon's own measurements of its answers, from the histogram in its metrics. Pure. */

const BUCKET = /^atlas_http_request_seconds_bucket\{le="([^"]+)",route="([^"]+)"\}$/;

/** A bucket: how many answers took longer than the previous bound and at most this bound, milliseconds. */
interface Bucket {
  upToMs: number;
  count: number;
}

/** Answers of each route between two readings of the metrics, by duration, shortest first. */
export function bucketsBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, Bucket[]> {
  const routes = new Map<string, Bucket[]>();
  for (const [name, total] of after) {
    const [, bound = '', route = ''] = BUCKET.exec(name) ?? [];
    if (route === '') continue;
    const buckets = routes.get(route) ?? [];
    const shorter = buckets.reduce((sum, { count }) => sum + count, 0);
    const upToMs = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1000;
    buckets.push({ upToMs, count: total - (before.get(name) ?? 0) - shorter });
    routes.set(route, buckets);
  }
  return routes;
}

/** The quantile `q` of the answers' durations, milliseconds; assumed evenly spread within a bucket. */
export function quantileMs(buckets: readonly Bucket[], q: number): number {
  const wanted = q * buckets.reduce((sum, { count }) => sum + count, 0);
  let passed = 0;
  let fromMs = 0;
  for (const { upToMs, count } of buckets) {
    if (count > 0 && passed + count >= wanted) {
      if (upToMs === Number.POSITIVE_INFINITY) return fromMs;
      return fromMs + ((upToMs - fromMs) * (wanted - passed)) / count;
    }
    passed += count;
    fromMs = upToMs;
  }
  return Number.NaN;
}
