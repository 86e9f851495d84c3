import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { isoToMilliseconds, monotonicNow, preciseNow, secondsToIso } from '../../src/lib/time.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

test('secondsToIso equals Date across days and centuries', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 32_503_680_000 }), (seconds) => {
      assert.equal(secondsToIso(seconds), new Date(seconds * 1000).toISOString());
    }),
    { examples: [[0], [86_399], [86_400], [1_763_740_800]] },
  );
});

test('preciseNow follows a clock change, monotonicNow does not', (t) => {
  assert.ok(Math.abs(preciseNow() - Date.now()) <= 3);
  const before = monotonicNow();
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  assert.equal(preciseNow(), 1_000_000);
  assert.ok(monotonicNow() - before < 60_000);
});

test('monotonicNow is the same in all threads', async () => {
  const worker = new Worker(
    'const [s, n] = process.hrtime(); require("worker_threads").parentPort.postMessage(s * 1000 + n / 1e6)',
    { eval: true },
  );
  const before = monotonicNow();
  const [there] = (await once(worker, 'message')) as [number];
  assert.ok(before <= there && there <= monotonicNow());
});

test('a day that its month does not have is no time', () => {
  const noTimes = [
    '2026-02-29',
    '2026-02-30T00:00Z',
    '2026-04-31T23:59:59+02:00',
    '2026-13-01',
    '2026-00-10',
    '',
  ];
  for (const text of noTimes) assert.ok(Number.isNaN(isoToMilliseconds(text)), text);
  for (const text of ['2024-02-29', '2026-02-28T23:30:00-05:00', '2026-12-31T00:30:00.5+14:00'])
    assert.equal(isoToMilliseconds(text), Date.parse(text), text);
});
