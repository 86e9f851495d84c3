/** The code of the threads in the single binary: each is a script among its assets. */
import { getAsset } from 'node:sea';
import type { ThreadCode, ThreadName } from '../threads/entries.ts';
import { threadAsset } from './asset-names.ts';

export function threadCode(name: ThreadName): ThreadCode {
  return { source: getAsset(threadAsset(name), 'utf8'), eval: true };
}

/** The binary is the program. */
export function programArguments(): string[] {
  return [];
}
