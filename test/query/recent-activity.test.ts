import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdCounts } from '../../src/query/recent-activity.ts';
import { randomSource } from '../support/chain/random-chain.ts';

test('the top equals a full sort while counts come and go', () => {
  const random = randomSource(3);
  const counts = new IdCounts();
  const plain = new Map<number, number>();
  const window: number[] = [];
  const add = (id: number, by: number) => {
    counts.add(id, by);
    plain.set(id, (plain.get(id) ?? 0) + by);
  };
  const check = () => {
    const sorted = [...plain]
      .filter(([, count]) => count > 0)
      .map(([id, count]) => ({ id, count }))
      .sort((a, b) => b.count - a.count || a.id - b.id);
    for (const limit of [1, 10, 5_000]) assert.deepEqual(counts.top(limit), sorted.slice(0, limit));
  };
  check();
  for (let step = 0; step < 60_000; step++) {
    const id = 1 + Math.floor(random() ** 4 * 2 ** 31 * (1 - 1e-9)); // a few ids often
    add(id % (step < 30_000 ? 2 ** 31 - 1 : 3_000) || 1, 1);
    window.push(id % (step < 30_000 ? 2 ** 31 - 1 : 3_000) || 1);
    if (window.length > 4_000) add(window.shift()!, -1);
    if (step % 10_000 === 9_999) check();
  }
  for (const id of window) add(id, -1);
  assert.deepEqual(counts.top(5), []);
});
