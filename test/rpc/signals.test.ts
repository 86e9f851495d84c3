import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { AnswerSink } from '../../src/rpc/call.ts';
import { collectAnswer } from '../../src/rpc/collect-answer.ts';
import { errorPayload } from '../../src/rpc/payload.ts';

const NOTHING = { cancel() {}, resume() {} };

test('an answer leaves no listener on the signal of its connection, whether it comes at once or later', async () => {
  const { signal } = new AbortController();
  const answer = (sink: AnswerSink) => sink.send(errorPayload({ code: 1, message: 'x' }), 200, true);
  await collectAnswer((sink) => {
    answer(sink);
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await collectAnswer((sink) => {
    setImmediate(() => answer(sink));
    return NOTHING;
  }, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
