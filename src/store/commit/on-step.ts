/** How a commit lets its caller act while it blocks the event loop, for up to minutes. */

/** Called after every few thousand rows read or written. May throw to abandon the commit. */
export type OnStep = () => void;

/** Rows between two calls of OnStep: a power of two. */
export const ROWS_PER_STEP = 1_024;
