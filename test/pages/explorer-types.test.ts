import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the scripts of both pages pass the type check', async () => {
  const checked = await promisify(execFile)('node_modules/.bin/tsc', ['-p', 'src/pages/ui'], {
    cwd: ROOT,
  }).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  assert.equal(checked.stdout, '');
});
