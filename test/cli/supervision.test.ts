import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { statusText, supervise } from '../../src/cli/supervision.ts';
import type { Notification } from '../../src/cli/systemd.ts';
import { idleStatus } from '../../src/writer/progress.ts';
import { waitFor } from '../support/wait.ts';

const WATCHDOG_MS = 200;

/** A watched daemon whose indexer reports when it is told to. */
function watched(t: TestContext) {
  const told: Notification[] = [];
  const reports: (() => void)[] = [];
  let silences = 0;
  const systemd = {
    watchdogMs: WATCHDOG_MS,
    notify: (notification: Notification) => told.push(notification),
    close() {},
  };
  const daemon = {
    status: () => idleStatus(),
    onStatus: (listener: (status: ReturnType<typeof idleStatus>) => void) =>
      reports.push(() => listener(idleStatus())),
  };
  const end = supervise(systemd, daemon, () => silences++);
  t.after(end);
  // The timer does not keep a process running, and nothing else does here.
  const alive = setInterval(() => undefined, 1_000);
  t.after(() => clearInterval(alive));
  return { told, end, report: () => reports[0]?.(), silences: () => silences };
}

test('ready is said once and first', async (t) => {
  const { told } = watched(t);
  assert.equal(told[0]?.READY, 1);
  await waitFor(() => told.length > 2, { what: 'two looks' });
  assert.equal(told.filter(({ READY }) => READY === 1).length, 1);
});

test('an indexer that reports no more is a reason not to feed the watchdog, until it does again', async (t) => {
  const { told, report, silences } = watched(t);
  const fed = () => told.at(-1)?.WATCHDOG === 1;
  await waitFor(fed, { what: 'the watchdog to be fed' });
  await waitFor(() => silences() > 0, { what: 'the silence to be noticed' });
  assert.ok(!fed());
  assert.match(told.at(-1)?.STATUS ?? '', /^waiting for the node/, 'the status is told all the same');
  report();
  await waitFor(fed, { what: 'the watchdog to be fed again' });
  assert.equal(silences(), 1, 'one silence is one line in the log');
});

test('nothing is told after the end', async (t) => {
  const { told, end } = watched(t);
  end();
  const before = told.length;
  await new Promise((resolve) => setTimeout(resolve, WATCHDOG_MS));
  assert.equal(told.length, before);
});

test('the status text says what the index is doing', () => {
  const following = {
    ...idleStatus(),
    phase: 'following' as const,
    head: { number: 1_234, hash: '0xaa' as const },
    nodeHead: 1_236,
  };
  assert.equal(statusText(following), 'following: block 1,234, 2 behind the node');
  assert.equal(statusText({ ...following, nodeHead: 1_234 }), 'following: block 1,234');
  assert.equal(
    statusText({ ...following, phase: 'filling', nodeHead: 9_234, blocksPerSecond: 100 }),
    'filling: block 1,234 of 9,234  100 blocks/s  0 transfers/s  lag 8,000  ETA 1 min 20 s',
  );
  assert.equal(statusText({ ...following, phase: 'paused', reason: 'disk full' }), 'paused: disk full');
});
