/** Index files of earlier versions. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openIndexForWriting } from '../../src/store/index-file.ts';
import { tempDir } from '../support/temp-dir.ts';

/** An index file with the given pragma values. */
export function createIndex(t: TestContext, pragmas: Record<string, number> = {}): string {
  const path = join(tempDir(t), 'index.db');
  const db = openIndexForWriting(path, {});
  for (const [name, value] of Object.entries(pragmas)) db.pragma(`${name} = ${value}`);
  db.close();
  return path;
}
