/** Blocks before the newest that can be taken back: more than any chain reorganises, and over a minute of the fastest. */
export const REORG_BLOCKS = 256;
