/** The answer cache: which calls are admitted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CacheDoorkeeper } from '../../src/gateway/answer-cache.ts';

test('the doorkeeper remembers a call until two generations of others have followed it', () => {
  const doorkeeper = new CacheDoorkeeper();
  doorkeeper.add('first');
  assert.ok(doorkeeper.has('first'));
  doorkeeper.delete('first');
  assert.ok(!doorkeeper.has('first'));
  doorkeeper.add('first');
  const long = 'x'.repeat(100_000);
  for (let i = 0; i < 20; i++) doorkeeper.add(`${i} ${long}`);
  assert.ok(doorkeeper.has('first'), '2 MB');
  for (let i = 20; i < 60; i++) doorkeeper.add(`${i} ${long}`);
  assert.ok(!doorkeeper.has('first'), '6 MB');
  assert.ok(doorkeeper.has(`59 ${long}`));
  doorkeeper.clear();
  assert.ok(!doorkeeper.has(`59 ${long}`));
});
