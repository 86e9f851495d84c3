/**
 * Flags of Node under which the daemon runs, whether from its sources, where bin/atlas-node repeats them, or as the
 * single binary.
 */
export const RUNTIME_FLAGS = [
  // The young generation of the serving thread would take 32 MB, most of which only what is long dead fills.
  '--max-semi-space-size=4',
  // One helper of the garbage collector instead of four. The threads collect small heaps, and on two cores four helpers
  // take the processor from the thread they help: with one, answers while filling wait a fifth less, and filling is not slower.
  '--v8-pool-size=1',
];

/** Settings of the C library under which the daemon runs where nobody has set them; bin/atlas-node says why. */
export const RUNTIME_ENV = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '262144' };
