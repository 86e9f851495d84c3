/** Replaces the table of threads in src/threads for tests: their code is in the bundle. See preload.mjs. */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildFolder, readManifest } from '../../../bin/builds.mjs';
import type { ThreadCode, ThreadName } from '../../../src/threads/entries.ts';

const entry = readManifest('program')?.files[0];
if (entry === undefined) throw new Error('the program is not built; run: npm run setup');
const folder = dirname(join(buildFolder('program'), entry));

export function threadCode(name: ThreadName): ThreadCode {
  return { source: pathToFileURL(join(folder, `${name}-thread.mjs`)), execArgv: [] };
}

export function programArguments(): string[] {
  return [join(folder, 'cli.mjs')];
}
