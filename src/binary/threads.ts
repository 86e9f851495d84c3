/** Where the code of threads is in the single binary: in its assets, each thread bundled separately. */
import { getAsset } from 'node:sea';
import type * as keys from '../access/thread-code.ts';
import type * as reader from '../api/thread-code.ts';
import type { ThreadCode } from '../lib/thread.ts';
import type * as writer from '../writer/thread-code.ts';
import { threadAsset } from './asset-names.ts';

export function threadCode(name: writer.ThreadName | reader.ThreadName | keys.ThreadName): ThreadCode {
  return { source: getAsset(threadAsset(name), 'utf8'), eval: true };
}
