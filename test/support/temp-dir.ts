import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder, removed when the test (or suite) that owns `after` ends. */
export function tempDir(owner: { after(fn: () => void): void }): string {
  const dir = mkdtempSync(join(tmpdir(), 'atlas-test-'));
  owner.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}
