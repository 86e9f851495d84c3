import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { Taker } from '../../src/rpc/call.ts';
import { gather } from '../../src/rpc/gathering.ts';
import { tailOf } from '../../src/rpc/tail.ts';

const NOTHING = { abandon() {}, resume() {} };

test('an answer leaves no listener on the signal of its connection, whether it comes at once or later', async () => {
  const { signal } = new AbortController();
  const answer = (taker: Taker) => taker.take(tailOf({ code: 1, message: 'x' }), 200, true);
  await gather((taker) => {
    answer(taker);
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await gather((taker) => {
    setImmediate(() => answer(taker));
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
