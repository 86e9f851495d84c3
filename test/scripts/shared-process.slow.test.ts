/** Test files that share a process: each keeps its own name, hooks and faults. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PINNED_NODE, ROOT, run } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Runs files of this text in one process, and returns its report in TAP. */
async function runFiles(t: TestContext, texts: Record<string, string>): Promise<string> {
  const dir = tempDir(t);
  const folder = join(dir, 'taken');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(
      join(dir, name),
      `import { after, before, beforeEach, describe, test } from 'node:test';\n${text}\n`,
    );
  }
  const queue = { files: Object.keys(texts), folder, timeout: 60_000, closeTimeout: 100 };
  const program = join(dir, 'program.mjs');
  writeFileSync(
    program,
    `import { runQueue } from '${ROOT}/test/support/shared-process.mjs';
     await runQueue(${JSON.stringify(queue)});`,
  );
  const { stdout } = await run(t, [PINNED_NODE, '--test-reporter=tap', program], {
    cwd: dir,
    env: { ...process.env, NODE_TEST_CONTEXT: '' },
  });
  return stdout;
}

test('hooks of a file apply to that file alone, and a failed one does not stop the next', async (t) => {
  const report = await runFiles(t, {
    'first.mjs': `
      const seen = [];
      beforeEach(() => seen.push('each'));
      test('one', () => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
      test('two', () => { if (seen.length !== 2) throw new Error(String(seen)); });
      after(() => { throw new Error('the hook failed'); });`,
    'broken.mjs': 'throw new Error("cannot be loaded");',
    'second.mjs': `test('three', () => {}); describe('inner', () => { test('four', () => {}); });`,
  });
  const results = report.split('\n').filter((line) => /^ *(not )?ok /.test(line));
  assert.deepEqual(results, [
    '    ok 1 - one',
    '    ok 2 - two',
    'not ok 1 - first.mjs',
    'not ok 2 - broken.mjs',
    '    ok 1 - three',
    '        ok 1 - four',
    '    ok 2 - inner',
    'ok 3 - second.mjs',
  ]);
  assert.match(report, /the hook failed/);
  assert.match(report, /cannot be loaded/);
});

for (const [what, text] of Object.entries({
  'environment variable LEFT was undefined, is 1': `process.env.LEFT = '1';`,
  'the working folder was': `process.chdir('/');`,
  'listeners of SIGUSR2 was undefined, is 1': `process.on('SIGUSR2', () => {});`,
  'performance.now was': 'performance.now = () => 7;',
  'open Timeout was undefined, is 1': 'setTimeout(() => {}, 20_000);',
})) {
  test(`a file fails that leaves its process changed: ${what}`, async (t) => {
    const report = await runFiles(t, { 'file.mjs': `test('leaves', () => { ${text} });` });
    assert.match(report, /not ok 1 - file\.mjs/);
    assert.ok(report.includes(what), report);
  });
}
