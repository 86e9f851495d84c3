/** Pauses that end early, and retries. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { retry, WakeablePause } from '../../src/lib/async.ts';

const LONG_MS = 600_000;

test('a pause ends when it is over, by a wake, or when its signal aborts', async () => {
  const pause = new WakeablePause();
  const stop = new AbortController();
  await pause.wait(1);
  const woken = pause.wait(LONG_MS, stop.signal);
  pause.wake();
  await woken;
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
  const stopped = pause.wait(LONG_MS, stop.signal);
  stop.abort();
  await stopped;
  await pause.wait(LONG_MS, stop.signal); // at once
});

test('a wake between two pauses ends the next one only', async () => {
  const pause = new WakeablePause();
  pause.wake();
  pause.wake();
  await pause.wait(LONG_MS);
  let isOver = false;
  const next = pause.wait(LONG_MS).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  pause.wake();
  await next;
});

test('a wake ends all pauses under way', async () => {
  const pause = new WakeablePause();
  const waits = [pause.wait(LONG_MS), pause.wait(LONG_MS)];
  pause.wake();
  await Promise.all(waits);
});

test('an attempt is repeated with growing waits until it succeeds', async () => {
  const { signal } = new AbortController();
  const failures: number[] = [];
  const waits: number[] = [];
  let attempts = 0;
  const result = await retry(
    () => {
      if (++attempts < 5) throw new Error('not yet');
      return 'done';
    },
    {
      firstMs: 100,
      longestMs: 400,
      signal,
      onFailure: (_error, count) => failures.push(count),
      wait: async (ms) => void waits.push(ms),
    },
  );
  assert.equal(result, 'done');
  assert.deepEqual(failures, [1, 2, 3, 4]);
  for (const [i, full] of [100, 200, 400, 400].entries())
    assert.ok(waits[i]! >= full * 0.8 && waits[i]! <= full, `${waits}`);
});

test('an attempt that lasted counts as a first failure', async () => {
  const failures: number[] = [];
  const stop = new AbortController();
  const fail = () => Promise.reject(new Error('lost'));
  await retry(fail, {
    firstMs: 1,
    longestMs: 1,
    steadyMs: 0,
    signal: stop.signal,
    onFailure(_error, count) {
      failures.push(count);
      if (failures.length === 3) stop.abort();
    },
  });
  assert.deepEqual(failures, [1, 1, 1]);
});

test('an abort ends a retry at once, and a failure afterwards is not told', async () => {
  const stop = new AbortController();
  const options = { firstMs: LONG_MS, longestMs: LONG_MS, signal: stop.signal };
  const waiting = retry(() => Promise.reject(new Error('no')), { ...options, onFailure: () => stop.abort() });
  assert.equal(await waiting, undefined);
  const late = await retry(() => assert.fail('attempted'), { ...options, onFailure: () => assert.fail() });
  assert.equal(late, undefined);
});

test('who is told of a failure can give up', async () => {
  const { signal } = new AbortController();
  const giveUp = retry(() => Promise.reject(new Error('wrong chain')), {
    firstMs: LONG_MS,
    longestMs: LONG_MS,
    signal,
    onFailure(error) {
      throw error;
    },
  });
  await assert.rejects(giveUp, /wrong chain/);
});
