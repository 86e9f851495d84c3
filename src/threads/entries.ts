/**
 * All threads: a new one is its entry file and a line here. The bundle has bundled-entries.ts instead, the single
 * binary src/binary/threads.ts.
 */
import { fileURLToPath } from 'node:url';
import type { ThreadEntry } from './thread.ts';

export const THREADS = {
  indexer: entry<typeof import('../indexer/indexer-thread.ts')>(
    new URL('../indexer/indexer-thread.ts', import.meta.url),
  ),
  'backfill-worker': entry<typeof import('../indexer/backfill/worker-thread.ts')>(
    new URL('../indexer/backfill/worker-thread.ts', import.meta.url),
  ),
  'index-stats': entry<typeof import('../indexer/stats-thread.ts')>(
    new URL('../indexer/stats-thread.ts', import.meta.url),
  ),
  checkpoint: entry<typeof import('../store/checkpoint-thread.ts')>(
    new URL('../store/checkpoint-thread.ts', import.meta.url),
  ),
  reader: entry<typeof import('../api/read-pool/reader-thread.ts')>(
    new URL('../api/read-pool/reader-thread.ts', import.meta.url),
  ),
  sink: entry<typeof import('../sink/sink-thread.ts')>(new URL('../sink/sink-thread.ts', import.meta.url)),
  cluster: entry<typeof import('../cluster/cluster-thread.ts')>(
    new URL('../cluster/cluster-thread.ts', import.meta.url),
  ),
  hooks: entry<typeof import('../hooks/hooks-thread.ts')>(
    new URL('../hooks/hooks-thread.ts', import.meta.url),
  ),
};
export type ThreadName = keyof typeof THREADS;

/** An entry file, with the type of the module, which no other thread loads. */
interface EntryFile<Module> extends URL {
  readonly module?: Module;
}

function entry<Module extends { default: ThreadEntry<unknown, unknown, unknown> }>(
  file: URL,
): EntryFile<Module> {
  return file;
}

type Types<Name extends ThreadName> = NonNullable<
  NonNullable<(typeof THREADS)[Name]['module']>['default']['types']
>;
/** Data that a thread starts with. */
export type DataOf<Name extends ThreadName> = Types<Name>['data'];
/** Messages to a thread. */
export type ToThread<Name extends ThreadName> = Types<Name>['to'];
/** Messages from a thread. */
export type FromThread<Name extends ThreadName> = Types<Name>['from'];

/** Input of `new Worker`: the URL of a file, or a script to evaluate. */
export type ThreadCode = { source: URL; execArgv?: string[] } | { source: string; eval: true };

/** What runs the program again in another process: the arguments before its own, for `process.execPath`. */
export function programArguments(): string[] {
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL('../cli.ts', import.meta.url))];
}

export function threadCode(name: ThreadName): ThreadCode {
  return { source: THREADS[name] };
}
