import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Counts one request per millisecond and prints, line by line, the count of one second ago. */
const COUNTER = `
  const { openKeyStore } = await import(process.argv[1]);
  const { UsageCounter } = await import(process.argv[2]);
  const store = openKeyStore(process.argv[3]);
  const usage = new UsageCounter(store.db);
  const history = [];
  setInterval(() => {
    usage.add(1, 1, Date.now());
    const total = usage.used(1, Date.now());
    history.push([Date.now(), total]);
    while (history.length > 1 && history[1][0] <= Date.now() - 1000) history.shift();
    // Told behind the other timers that are due: who was held up must first be given the time to write.
    if (history[0][0] <= Date.now() - 1000) setImmediate(console.log, history[0][1] + ' ' + total);
  }, 1);`;

test('after kill -9 no more than the last second of counts is lost', async (t) => {
  const path = join(tempDir(t), 'keys.db');
  const store = openKeyStore(path);
  t.after(() => store.close());
  store.create({ name: 'app', tier: 'free' });
  const modules = ['keys', 'usage'].map(
    (name) => new URL(`../../src/access/${name}.ts`, import.meta.url).href,
  );
  const child = spawn(process.execPath, ['--input-type=module', '-e', COUNTER, ...modules, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let aSecondAgo = 0;
  let total = 0;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    [aSecondAgo = 0, total = 0] = line.split(' ').map(Number);
    if (++lines === 700) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const written = readUsage(store.db, 1)[0]?.requests ?? 0;
  assert.ok(written >= aSecondAgo, `${written} were written, ${aSecondAgo} counted a second before the kill`);
  assert.ok(written <= total + 50, `${written} were written, ${total} counted`);
});
