import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankTicks, timeTicks } from '../../src/pages/ui/scale.ts';

const texts = (from: string, to: string, count: number) =>
  timeTicks(Date.parse(`${from}Z`), Date.parse(`${to}Z`), count).map(({ text }) => text);

test('a time axis names the date once, and the year where it changes', () => {
  assert.deepEqual(texts('2022-06-21T02:32', '2022-06-21T02:32', 5), ['2022-06-21 02:32']);
  assert.deepEqual(texts('2026-11-28T10:41:03', '2026-11-28T10:41:35', 4), [
    '2026-11-28 10:41:10',
    '10:41:20',
    '10:41:30',
  ]);
  assert.deepEqual(texts('2026-11-28T16:00', '2026-11-29T08:00', 4), ['2026-11-28 18:00', '11-29', '06:00']);
  assert.deepEqual(texts('2025-12-20T00:00', '2026-01-10T00:00', 3), ['2025-12-28', '2026-01-07']);
  assert.deepEqual(texts('2024-01-01T00:00', '2024-03-01T00:00', 3), [
    '2024-01-18',
    '2024-02-07',
    '2024-02-27',
  ]);
});

test('an axis of ranks has both ends, and round ranks between them that leave room', () => {
  const ranks = (last: number) => rankTicks(last, 5).map(({ at }) => at);
  assert.deepEqual(ranks(3), [1, 2, 3]);
  assert.deepEqual(ranks(7), [1, 2, 4, 6, 7]);
  assert.deepEqual(ranks(61), [1, 20, 40, 61]);
  assert.deepEqual(ranks(100), [1, 20, 40, 60, 80, 100]);
});
