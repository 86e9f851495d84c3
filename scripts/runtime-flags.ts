/** Node flags of the daemon, both as a bundle, where bin/atlas-node repeats them, and as the single binary. */
export const RUNTIME_FLAGS = [
  // Otherwise the young generation of the serving thread would take 32 MB, most of it garbage: after a backfill of
  // 45,000 transfers and 1,500 responses the daemon has 172 MB with this flag and 218 MB without it.
  '--max-semi-space-size=4',
  // One helper thread of the garbage collector instead of four. The heaps are small, and on two cores four helpers take
  // the processor from the thread they help: with one, answers during a backfill wait a fifth less, and the backfill is
  // not slower.
  '--v8-pool-size=1',
];

/**
 * Defaults of the C library's settings for the daemon. The threads share four heaps: with three, the serving thread
 * would share its heap with a low-priority thread and wait up to 18 ms for the lock that this one holds; one per
 * thread, glibc's default, takes up to 10 MB more. Blocks above 256 KiB, such as answers of the node, go back to the
 * system when freed: by default glibc soon keeps blocks of up to 32 MB in its heaps, 30 MB more after large answers,
 * most of it holes.
 */
export const RUNTIME_ENV = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '262144' };
