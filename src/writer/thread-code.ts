/** Where the code of threads is. The single binary has src/binary/threads.ts instead. */
import type { ThreadCode } from '../lib/thread.ts';

/** The entry files of threads. */
export const THREADS = {
  writer: new URL('./writer-thread.ts', import.meta.url),
  loader: new URL('./loader-thread.ts', import.meta.url),
  checkpoint: new URL('./checkpoint-thread.ts', import.meta.url),
  survey: new URL('./survey-thread.ts', import.meta.url),
};
export type ThreadName = keyof typeof THREADS;

export function threadCode(name: ThreadName): ThreadCode {
  return { source: THREADS[name] };
}
