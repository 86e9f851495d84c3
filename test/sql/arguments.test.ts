import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timesIn } from '../../src/sql/tables/arguments.ts';

test('a day that its month does not have bounds no time: the query compares it as text', () => {
  const timesOf = (min: string) => timesIn({ block_timestamp: { min } }, 'block_timestamp');
  // As a day in March it would leave out the rows of March 1, which are greater as text.
  for (const text of ['2026-02-30', '2026-02-30 12:00', '2026-04-31'])
    assert.deepEqual(timesOf(text), {}, text);
  assert.deepEqual(timesOf('2026-02-28 12:00'), { since: Date.parse('2026-02-28T12:00Z') / 1000 });
});
