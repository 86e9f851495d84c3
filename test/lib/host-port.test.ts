import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPort } from '../../src/lib/text.ts';

test('names and IPv4 addresses are left as they are, IPv6 addresses are bracketed', () => {
  assert.equal(hostPort('localhost', 8650), 'localhost:8650');
  assert.equal(hostPort('127.0.0.1', 8650), '127.0.0.1:8650');
  assert.equal(hostPort('::1', 8650), '[::1]:8650');
});
