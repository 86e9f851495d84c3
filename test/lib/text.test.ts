import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPort, isObject } from '../../src/lib/text.ts';

test('names and IPv4 addresses are left as they are, IPv6 addresses are bracketed', () => {
  assert.equal(hostPort('localhost', 8650), 'localhost:8650');
  assert.equal(hostPort('127.0.0.1', 8650), '127.0.0.1:8650');
  assert.equal(hostPort('::1', 8650), '[::1]:8650');
});

test('isObject accepts JSON objects only', () => {
  for (const value of [{}, { a: [] }, Object.create(null)]) assert.ok(isObject(value));
  for (const value of [null, undefined, [], [{}], 'text', 7, true])
    assert.ok(!isObject(value), String(value));
});
