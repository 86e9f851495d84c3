/** The subscriptions of one connection: their number, and their end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { NotificationCounts, Session, type Unsubscribe } from '../../src/streams/subscription.ts';
import { FREE } from './free-payer.ts';

const MAX_SUBSCRIPTIONS = 2;

/** A session with one topic, whose subscribes complete when the test says so, and their outcomes. */
function open(t: TestContext) {
  const metrics = createMetrics();
  t.after(() => metrics.close());
  const begun: ((unsubscribe: Unsubscribe) => void)[] = [];
  let ended = 0;
  const session = new Session({
    handlers: new Map([['news', () => new Promise<Unsubscribe>((resolve) => begun.push(resolve))]]),
    connection: { backlogBytes: 0, push() {}, whenDrained() {}, close() {}, payer: FREE },
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    maxHeldBytes: 1_000,
    metrics,
    counts: new NotificationCounts(metrics),
  });
  const counted = async () => {
    const { values } = await metrics.subscriptions.get();
    return values.find(({ labels }) => labels.topic === 'news')?.value ?? 0;
  };
  const makeAll = () => {
    for (const make of begun.splice(0)) make(() => ended++);
  };
  return { session, counted, makeAll, ended: () => ended };
}

test('subscribes in progress count against the limit; failed and ended ones do not', async (t) => {
  const { session, makeAll, counted, ended } = open(t);
  await assert.rejects(session.subscribe('olds', []), { code: 'unknown_subscription' });
  const making = [session.subscribe('news', []), session.subscribe('news', [])];
  await assert.rejects(session.subscribe('news', []), { code: 'limit_exceeded' });
  makeAll();
  const [first] = await Promise.all(making);
  await assert.rejects(session.subscribe('news', []), { code: 'limit_exceeded' });
  assert.deepEqual([session.topics, await counted()], [['news', 'news'], 2]);
  session.unsubscribe(`0x0${first?.id.slice(2).toUpperCase()}`); // any spelling of the quantity
  assert.deepEqual([session.topics, await counted(), ended()], [['news'], 1, 1]);
  assert.throws(() => session.unsubscribe(first?.id ?? ''), { code: 'not_found' });
  const another = session.subscribe('news', []);
  makeAll();
  await another;
  assert.equal(await counted(), 2);
});

test('closing the connection ends all subscriptions, including subscribes in progress', async (t) => {
  const { session, makeAll, counted, ended } = open(t);
  const first = session.subscribe('news', []);
  makeAll();
  await first;
  const second = session.subscribe('news', []);
  session.close();
  assert.deepEqual([ended(), await counted()], [1, 0]);
  makeAll();
  await second;
  assert.deepEqual([ended(), await counted(), session.topics], [2, 0, []]);
});
