import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of owners that have ended or are ending. */
const unused: string[] = [];

process.on('exit', removeUnused);

/**
 * A new empty folder for the test (or suite) that owns `after`. Hooks run in registration order, so whatever the test
 * opens in the folder closes after this hook. The folder is therefore removed at the next call, or when the process
 * exits.
 */
export function tempDir(owner: { after(fn: () => void): void }): string {
  removeUnused();
  const dir = mkdtempSync(join(tmpdir(), 'atlas-test-'));
  owner.after(() => void unused.push(dir));
  return dir;
}

function removeUnused(): void {
  for (const dir of unused.splice(0)) rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
}
