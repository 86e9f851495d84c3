import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { CallConsumer } from '../../src/gateway/call.ts';
import { collectAnswer } from '../../src/gateway/collect-answer.ts';
import { errorResult } from '../../src/gateway/errors.ts';

const NOTHING = { cancel() {}, resume() {} };

test('an answer leaves no listener on the signal of its connection, whether it comes at once or later', async () => {
  const { signal } = new AbortController();
  const answer = (consumer: CallConsumer) =>
    consumer.send(errorResult({ code: 1, message: 'x' }).tail, 200, true);
  await collectAnswer((consumer) => {
    answer(consumer);
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await collectAnswer((consumer) => {
    setImmediate(() => answer(consumer));
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
