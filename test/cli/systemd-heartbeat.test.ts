import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Notification, startHeartbeat, statusText } from '../../src/cli/start/systemd.ts';
import { initialStatus } from '../../src/indexer/progress.ts';

const WATCHDOG_MS = 200;

/** A watched daemon whose indexer reports on request. */
function watched(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const sent: Notification[] = [];
  const reports: (() => void)[] = [];
  let silences = 0;
  const systemd = {
    watchdogMs: WATCHDOG_MS,
    notify: (notification: Notification) => sent.push(notification),
    close() {},
  };
  const daemon = {
    status: () => initialStatus(),
    onStatus: (listener: (status: ReturnType<typeof initialStatus>) => void) =>
      reports.push(() => listener(initialStatus())),
  };
  const end = startHeartbeat(systemd, daemon, () => silences++);
  t.after(end);
  /** Lets this many milliseconds pass. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      now++;
      t.mock.timers.tick(1);
    }
  };
  return { sent, end, pass, report: () => reports[0]?.(), silences: () => silences };
}

test('ready is reported once and first', (t) => {
  const { sent, pass } = watched(t);
  assert.equal(sent[0]?.READY, 1);
  pass(WATCHDOG_MS);
  assert.ok(sent.length > 2);
  assert.equal(sent.filter(({ READY }) => READY === 1).length, 1);
});

test('heartbeats stop while the indexer does not report', (t) => {
  const { sent, pass, report, silences } = watched(t);
  const fed = () => sent.at(-1)?.WATCHDOG === 1;
  pass(WATCHDOG_MS / 2);
  assert.ok(fed());
  assert.equal(silences(), 0);
  pass(2 * WATCHDOG_MS);
  assert.ok(!fed());
  assert.match(sent.at(-1)?.STATUS ?? '', /^waiting for the node/, 'the status is sent all the same');
  report();
  pass(WATCHDOG_MS / 2);
  assert.ok(fed());
  assert.equal(silences(), 1, 'one silence is one line in the log');
});

test('nothing is sent after the end', (t) => {
  const { sent, end, pass } = watched(t);
  end();
  const before = sent.length;
  pass(2 * WATCHDOG_MS);
  assert.equal(sent.length, before);
});

test('the status text says what the index is doing', () => {
  const following = {
    ...initialStatus(),
    phase: 'following' as const,
    head: { number: 1_234, hash: '0xaa' as const },
    nodeHead: 1_236,
  };
  assert.equal(statusText(following), 'following: block 1,234, 2 behind the node');
  assert.equal(statusText({ ...following, nodeHead: 1_234 }), 'following: block 1,234');
  assert.match(
    statusText({ ...following, nodeHead: 1_234, headTimestamp: Date.now() / 1000 - 7_200 }),
    /^following: block 1,234, 2 h 0 min old$/,
  );
  assert.equal(
    statusText({
      ...following,
      phase: 'backfilling',
      nodeHead: 9_234,
      blocksPerSecond: 100,
      blocksPerSecondLastMinute: 100,
    }),
    'backfilling: block 1,234 of 9,234  100 blocks/s  0 transfers/s  lag 8,000  ETA 1 min 20 s',
  );
  assert.equal(statusText({ ...following, phase: 'paused', reason: 'disk full' }), 'paused: disk full');
});
