/** Node flags of the daemon, both from its sources, where bin/atlas-node repeats them, and as the single binary. */
export const RUNTIME_FLAGS = [
  // Otherwise the young generation of the serving thread would take 32 MB, most of it garbage.
  '--max-semi-space-size=4',
  // One helper thread of the garbage collector instead of four. The heaps are small, and on two cores four helpers take
  // the processor from the thread they help: with one, answers during a backfill wait a fifth less, and the backfill is
  // not slower.
  '--v8-pool-size=1',
];

/** Defaults of the C library's settings for the daemon; bin/atlas-node gives the reasons. */
export const RUNTIME_ENV = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '262144' };
