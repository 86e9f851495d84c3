import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/lib/errors.ts';
import { MalformedNotifications } from '../../src/node/connection.ts';

test('malformed notifications are logged once a minute, however many arrive', (t) => {
  let now = 1e6;
  t.mock.method(performance, 'now', () => now);
  const lines: unknown[] = [];
  const malformed = new MalformedNotifications({ warn: (facts, text) => lines.push([facts, text]) }, 'head');
  const err = new UpstreamError('malformed', 'newHeads: result is 1');
  for (let i = 0; i < 1_000; i++) malformed.report(err);
  const line = [{ err }, 'the node sent a malformed head notification'];
  assert.deepEqual(lines, [line]);
  now += 60_000;
  for (let i = 0; i < 1_000; i++) malformed.report(err);
  assert.deepEqual(lines, [line, line]);
});

test('an error that is not an UpstreamError is rethrown', () => {
  const malformed = new MalformedNotifications({ warn: () => undefined }, 'head');
  assert.throws(() => malformed.report(new TypeError('ours')), /ours/);
});
