/** The entry file of every thread in the bundle: each is found by its name, beside this module. */
import { fileURLToPath } from 'node:url';
import type { ThreadCode, ThreadName } from './entries.ts';

export function threadCode(name: ThreadName): ThreadCode {
  return { source: new URL(`./${name}-thread.mjs`, import.meta.url) };
}

export function programArguments(): string[] {
  return [fileURLToPath(new URL('./cli.mjs', import.meta.url))];
}
