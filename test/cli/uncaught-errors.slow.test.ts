/** Uncaught errors, provoked in the real program by injected code. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LAUNCHER, readyUrl, start } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const PROVOKED = {
  'an error that was thrown': "process.once('SIGUSR2', () => { throw new Error('a defect'); });",
  'an unhandled rejection': "process.once('SIGUSR2', () => { Promise.reject(new Error('a defect')); });",
};

/** What the program writes to stderr behind the provocation, and its exit code. */
async function fail(t: TestContext, code: string, format: string) {
  const dir = tempDir(t);
  const file = join(dir, 'provoke.cjs');
  writeFileSync(file, code);
  const args = ['start', '--node-http', 'http://127.0.0.1:1', '--data-dir', dir, '--port', '0'];
  const env = { NODE_OPTIONS: `--require=${file}` };
  const running = start(t, [LAUNCHER, ...args, '--log-format', format], { cwd: dir, env });
  await readyUrl(running);
  running.child.kill('SIGUSR2');
  return running.ended;
}

for (const [what, code] of Object.entries(PROVOKED)) {
  test(`${what} is one fatal line with its stack in a log of JSON, and ends the program with 1`, async (t) => {
    const { code: exitCode, stderr } = await fail(t, code, 'json');
    const lines = stderr.trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '');
    assert.equal(last.level, 'fatal');
    assert.equal(last.err.message, 'a defect');
    assert.match(last.err.stack, /provoke\.cjs:1/);
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
    assert.equal(exitCode, 1);
  });
}

test('for people Node prints the stack, and the exit code is the same', async (t) => {
  const { code, stderr } = await fail(t, PROVOKED['an error that was thrown'], 'pretty');
  assert.match(stderr, /^Error: a defect\n {4}at /m);
  assert.equal(code, 1);
});
