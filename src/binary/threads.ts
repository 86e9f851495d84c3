/** Where the code of threads is in the single binary: in its assets, each thread bundled by itself. */
import { getAsset } from 'node:sea';
import type { ThreadCode, ThreadName } from '../writer/threads.ts';

export function threadCode(name: ThreadName): ThreadCode {
  return { source: getAsset(`${name}-thread.js`, 'utf8'), eval: true };
}
