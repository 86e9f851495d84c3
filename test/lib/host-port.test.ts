import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostPort } from '../../src/lib/host-port.ts';

test('names and IPv4 addresses stand before the port as they are, IPv6 addresses in brackets', () => {
  assert.equal(hostPort('localhost', 8650), 'localhost:8650');
  assert.equal(hostPort('127.0.0.1', 8650), '127.0.0.1:8650');
  assert.equal(hostPort('::1', 8650), '[::1]:8650');
});
