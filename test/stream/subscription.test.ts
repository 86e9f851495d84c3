import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notification } from '../../src/stream/notification.ts';
import { Subscription } from '../../src/stream/subscription.ts';

test('the bytes of an id keep no more memory than they take', () => {
  const ids: Uint8Array[] = [];
  const push = (_notification: Notification, id: Uint8Array) => void ids.push(id);
  const connection = { backlogBytes: 0, push, whenDrained() {}, close() {} };
  const subscription = new Subscription('newHeads', connection, { total: 0 }, 1_000);
  subscription.release();
  subscription.push(new Notification('eth_subscription', '{}'));
  const [id] = ids;
  assert.equal(Buffer.from(id ?? []).toString(), subscription.id);
  assert.equal(id?.buffer.byteLength, subscription.id.length);
});
