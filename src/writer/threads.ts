/** Where the code of threads is. The single binary has src/binary/threads.ts instead. */

export type ThreadName = 'writer' | 'loader';

/** What `new Worker` takes: the address of a file, or a source to be evaluated. */
export type ThreadCode = { source: URL; eval: false } | { source: string; eval: true };

export function threadCode(name: ThreadName): ThreadCode {
  return { source: ENTRIES[name], eval: false };
}

const ENTRIES = {
  writer: new URL('./writer-thread.ts', import.meta.url),
  loader: new URL('./loader-thread.ts', import.meta.url),
};
