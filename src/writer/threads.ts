/** Where the code of threads is. The single binary has src/binary/threads.ts instead. */

/** What `new Worker` takes: the address of a file, or a script to be evaluated. */
export type ThreadCode = { source: URL } | { source: string; eval: true };

/** The files that threads begin with. */
export const THREADS = {
  writer: new URL('./writer-thread.ts', import.meta.url),
  loader: new URL('./loader-thread.ts', import.meta.url),
  survey: new URL('./survey-thread.ts', import.meta.url),
};
export type ThreadName = keyof typeof THREADS;

export function threadCode(name: ThreadName): ThreadCode {
  return { source: THREADS[name] };
}
