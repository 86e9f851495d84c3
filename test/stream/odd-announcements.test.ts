import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { OddAnnouncements } from '../../src/stream/odd-announcements.ts';

test('what a node announces in a wrong form is logged once a minute, however much of it comes', (t) => {
  let now = 1e6;
  t.mock.method(performance, 'now', () => now);
  const lines: unknown[] = [];
  const odd = new OddAnnouncements({ warn: (facts, text) => lines.push([facts, text]) }, 'head');
  const err = new UpstreamError('malformed', 'newHeads: result is 1');
  for (let i = 0; i < 1_000; i++) odd.report(err);
  const line = [{ err }, 'the node announced something that is no head'];
  assert.deepEqual(lines, [line]);
  now += 60_000;
  for (let i = 0; i < 1_000; i++) odd.report(err);
  assert.deepEqual(lines, [line, line]);
});

test('an error that is not about the node is not taken for one', () => {
  const odd = new OddAnnouncements({ warn: () => undefined }, 'head');
  assert.throws(() => odd.report(new TypeError('ours')), /ours/);
});
