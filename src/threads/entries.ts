/**
 * The entry file of every thread. The bundle has bundled-entries.ts instead, the single binary src/binary/threads.ts.
 */

export const THREADS = {
  indexer: new URL('../indexer/indexer-thread.ts', import.meta.url),
  'backfill-worker': new URL('../indexer/backfill/worker-thread.ts', import.meta.url),
  checkpoint: new URL('../indexer/checkpoint-thread.ts', import.meta.url),
  'index-stats': new URL('../indexer/stats-thread.ts', import.meta.url),
  reader: new URL('../api/read-pool/reader-thread.ts', import.meta.url),
  sink: new URL('../sink/sink-thread.ts', import.meta.url),
  cluster: new URL('../cluster/cluster-thread.ts', import.meta.url),
  hooks: new URL('../hooks/hooks-thread.ts', import.meta.url),
  'keys-checkpoint': new URL('../access/keys-checkpoint-thread.ts', import.meta.url),
};
export type ThreadName = keyof typeof THREADS;

/** Input of `new Worker`: the URL of a file, or a script to evaluate. */
export type ThreadCode = { source: URL; execArgv?: string[] } | { source: string; eval: true };

export function threadCode(name: ThreadName): ThreadCode {
  return { source: THREADS[name] };
}
