import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsBetween, quantileMs } from '../../../scripts/bench/measure/latency-histogram.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';

/** The metrics as received by a client of the daemon. */
async function read(metrics: ReturnType<typeof createMetrics>): Promise<Map<string, number>> {
  const samples = (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

test('computes the latency from the difference between two readings', async (t) => {
  const metrics = createMetrics();
  t.after(() => metrics.close());
  const one = metrics.httpSeconds.child({ route: '/api/one' });
  const other = metrics.httpSeconds.child({ route: '/api/other' });
  for (let i = 0; i < 1_000; i++) one.observe(0.4);
  const before = await read(metrics);
  for (let i = 0; i < 98; i++) one.observe(0.0015);
  for (let i = 0; i < 2; i++) one.observe(0.0125);
  other.observe(30);
  const answers = bucketsBetween(before, await read(metrics));
  const of = (route: string, q: number) => quantileMs(answers.get(route) ?? [], q);
  assert.ok(of('/api/one', 0.5) > 1 && of('/api/one', 0.5) <= 2);
  assert.equal(of('/api/one', 0.98), 2);
  assert.equal(of('/api/one', 0.99), 12.5);
  assert.equal(of('/api/one', 1), 15);
  assert.equal(of('/api/other', 0.5), 5_000, 'beyond the last bound at least that bound is told');
  assert.equal(of('/api/none', 0.99), Number.NaN);
});
