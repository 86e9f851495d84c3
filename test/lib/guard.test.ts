import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { guarded, reportFailuresTo } from '../../src/lib/guard.ts';

let caught: string[] = [];
beforeEach(() => {
  caught = [];
  reportFailuresTo((place, error) => caught.push(`${place}: ${error}`));
});
afterEach(() => reportFailuresTo());

test('a guarded callback gets its arguments, and an error it throws goes to the reporter', () => {
  const seen: unknown[] = [];
  const callback = guarded('here', (a: number, b: string) => {
    seen.push(a, b);
    if (a === 2) throw new RangeError('too deep');
  });
  callback(1, 'x');
  callback(2, 'y');
  assert.deepEqual(seen, [1, 'x', 2, 'y']);
  assert.deepEqual(caught, ['here: RangeError: too deep']);
});

test('a rejection of a guarded callback goes to the reporter', async () => {
  guarded('here', () => Promise.reject(new Error('late')))();
  await nextTurn();
  assert.deepEqual(caught, ['here: Error: late']);
});

test('after an error, those who wait are told, even if telling them fails too', () => {
  const fail = () => {
    throw new Error('first');
  };
  let told = 0;
  guarded('here', fail, () => told++)();
  assert.equal(told, 1);
  guarded('here', fail, () => {
    throw new Error('second');
  })();
  assert.deepEqual(caught, ['here: Error: first', 'here: Error: first', 'here: Error: second']);
});
