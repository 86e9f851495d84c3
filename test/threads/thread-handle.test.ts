/** The handle on a thread: messages, log, restarts, and an end within a time limit. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FatalError } from '../../src/lib/errors.ts';
import { THREADS } from '../../src/threads/entries.ts';
import { type RestartPolicy, ThreadHandle } from '../../src/threads/thread-handle.ts';
import { logTo } from '../support/logs.ts';
import { waitFor } from '../support/wait.ts';

const ODD_THREAD = new URL('../support/threads/odd-thread.ts', import.meta.url);

/** Starts the odd thread. */
function startOdd(t: TestContext, behaviour: string, restart: RestartPolicy = 'never') {
  const lines: string[] = [];
  const events: string[] = [];
  const handle = new ThreadHandle('checkpoint', {
    data: () => ({ path: behaviour, emptiesWal: false }),
    restart,
    onMessage: (message) => events.push(message),
    onFailure: (error) => events.push(`failure: ${error.message}`),
    onExit: () => events.push('exit'),
    log: logTo(lines),
    code: { source: ODD_THREAD },
  });
  t.after(() => handle.stop(0));
  const runs = () => waitFor(() => lines.length > 0, { what: 'the thread to run' });
  return { handle, lines, events, runs };
}

test('messages pass both ways, lines reach the log, and a stop ends the thread', async (t) => {
  const { handle, lines, events } = startOdd(t, 'works');
  handle.post('checkpoint');
  await waitFor(() => events.length > 0, { what: 'the answer' });
  assert.ok(handle.isRunning);
  await handle.stop();
  assert.deepEqual(events, ['checkpointed', 'exit']);
  assert.deepEqual(lines, ['info the thread runs {"behaviour":"works"}', 'info the thread ends {}']);
  assert.ok(!handle.isRunning);
  handle.post('checkpoint'); // dropped
  await handle.ended;
});

test('a thread that does not end in time is terminated, which is logged', async (t) => {
  for (const behaviour of ['ignores a stop', 'hangs busily']) {
    const { handle, lines, events, runs } = startOdd(t, behaviour);
    await runs();
    handle.post('checkpoint');
    await waitFor(() => events.length > 0, { what: 'the answer' });
    const startedAt = performance.now();
    await handle.stop(50);
    await handle.ended;
    assert.ok(performance.now() - startedAt < 8_000);
    const told = 'warn a thread did not end in time and was terminated {"thread":"checkpoint","limitMs":50}';
    assert.equal(lines.at(-1), told, behaviour);
  }
});

test('a second stop with a shorter limit ends the first', async (t) => {
  const { handle, lines, runs } = startOdd(t, 'ignores a stop');
  await runs();
  const first = handle.stop(600_000);
  await handle.stop(50);
  await first;
  assert.equal(lines.filter((line) => line.includes('was terminated')).length, 1);
});

test('work that reads no messages sees that the thread must stop', async (t) => {
  const { handle, lines, events } = startOdd(t, 'is busy');
  handle.post('checkpoint');
  await waitFor(() => events.length > 0, { what: 'the work to begin' });
  await handle.stop();
  assert.equal(lines.at(-1), 'info the thread ends {}');
});

test('a failure reaches who waits for the end, after all messages before it', async (t) => {
  for (const behaviour of ['fails', 'fails at a message']) {
    const { handle, events, lines } = startOdd(t, behaviour);
    handle.post('checkpoint');
    await assert.rejects(handle.ended, behaviour === 'fails' ? /the disk is gone/ : /a defect/);
    assert.deepEqual(events, behaviour === 'fails' ? ['checkpointed', 'exit'] : ['exit']);
    assert.equal(lines.length, 1);
    await handle.stop();
  }
});

test('the failure of a thread that the program needs is fatal, with advice or a stack', async (t) => {
  const isFatal = (text: RegExp) => (error: unknown) =>
    error instanceof FatalError && text.test(error.message);
  await assert.rejects(startOdd(t, 'fails', 'fatal').handle.ended, isFatal(/^the disk is gone$/));
  const defect = startOdd(t, 'fails at a message', 'fatal').handle;
  defect.post('checkpoint');
  await assert.rejects(defect.ended, isFatal(/^the checkpoint thread failed: Error: a defect\n.*at /s));
  await assert.rejects(startOdd(t, 'ends', 'fatal').handle.ended, isFatal(/exited with code 0/));
  await startOdd(t, 'ends', 'never').handle.ended; // has done its work
});

test('a thread that fails is started again until it is dismissed', async (t) => {
  const { handle, events } = startOdd(t, 'fails', { firstMs: 1, longestMs: 5 });
  const failures = () => events.filter((event) => event === 'failure: the disk is gone').length;
  await waitFor(() => failures() >= 2, { what: 'a second failure' });
  handle.dismiss();
  await handle.ended;
  const before = failures();
  await handle.stop();
  assert.equal(failures(), before);
});

test('a stop between two starts prevents the second', async (t) => {
  const { handle, events } = startOdd(t, 'fails', { firstMs: 60_000, longestMs: 60_000 });
  await waitFor(() => events.includes('exit'), { what: 'the failure' });
  await handle.stop();
  await handle.ended;
  assert.ok(!handle.isRunning);
});

test('every entry file of a thread is in the table', () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const entries = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('-thread.ts') && !file.startsWith('threads'))
    .map((file) => join(src, file));
  const listed = Object.values(THREADS).map((file) => fileURLToPath(file));
  assert.deepEqual(entries.sort(), listed.sort());
});
