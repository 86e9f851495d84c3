/** Where the code of threads is. The single binary has src/binary/threads.ts instead. */
import type { ThreadCode } from '../lib/thread.ts';

/** The files that threads begin with. */
export const THREADS = {
  'keys-checkpoint': new URL('./keys-checkpoint-thread.ts', import.meta.url),
};
export type ThreadName = keyof typeof THREADS;

export function threadCode(name: ThreadName): ThreadCode {
  return { source: THREADS[name] };
}
