import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject } from '../../src/lib/text.ts';

test('isObject accepts JSON objects only', () => {
  for (const value of [{}, { a: [] }, Object.create(null)]) assert.ok(isObject(value));
  for (const value of [null, undefined, [], [{}], 'text', 7, true])
    assert.ok(!isObject(value), String(value));
});
