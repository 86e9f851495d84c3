/** Newest blocks that can be reported as removed: deeper than any chain's reorgs, and over a minute of the fastest. */
export const MAX_REORG_DEPTH = 256;
