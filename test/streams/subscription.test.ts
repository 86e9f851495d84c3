import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloseCode } from '../../src/streams/close.ts';
import { Notification, Subscription } from '../../src/streams/subscription.ts';
import { FREE } from './free-payer.ts';

test('the bytes of an id do not keep a larger buffer alive', () => {
  const ids: Uint8Array[] = [];
  const push = (_notification: Notification, id: Uint8Array) => void ids.push(id);
  const connection = { backlogBytes: 0, push, whenDrained() {}, close() {}, payer: FREE };
  const subscription = new Subscription('newHeads', connection, { total: 0 }, 1_000);
  subscription.release();
  subscription.push(new Notification('eth_subscription', '{}'));
  const [id] = ids;
  assert.equal(Buffer.from(id ?? []).toString(), subscription.id);
  assert.equal(id?.buffer.byteLength, subscription.id.length);
});

/** A subscription that holds up to 100 bytes until its reply, and what its connection received. */
function held() {
  const told: string[] = [];
  const connection = {
    backlogBytes: 0,
    push: (notification: Notification, id: Uint8Array) => {
      const { params } = JSON.parse(String(notification.messageFor(id)));
      told.push(params.result);
    },
    payer: FREE,
    whenDrained() {},
    close: (code: number) => void told.push(`closed with ${code}`),
  };
  const sent = { total: 0 };
  const subscription = new Subscription('newHeads', connection, sent, 2 * of('first').byteLength);
  return { told, sent, subscription };
}

const of = (result: string) => new Notification('eth_subscription', JSON.stringify(result));

test('notifications held before the reply are sent after it, in order, and counted then', () => {
  const { told, sent, subscription } = held();
  subscription.onRelease(() => told.push('the reply'));
  subscription.push(of('first'));
  subscription.push(of('other'));
  assert.deepEqual([told, sent.total], [[], 0]);
  subscription.release();
  subscription.push(of('third'));
  assert.deepEqual([told, sent.total], [['first', 'other', 'the reply', 'third'], 3]);
  subscription.onRelease(() => told.push('at once'));
  assert.equal(told.at(-1), 'at once');
});

test('a client with too many held notifications is closed as a slow consumer', () => {
  const { told, subscription } = held();
  for (const result of ['first', 'other']) subscription.push(of(result));
  assert.deepEqual(told, []);
  subscription.push(of('third'));
  assert.deepEqual(told, [`closed with ${CloseCode.tryAgainLater}`]);
});
