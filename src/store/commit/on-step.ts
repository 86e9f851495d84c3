/** How a commit lets its caller act while it blocks the event loop, for up to minutes. */

/** Called about every ROWS_PER_STEP rows that a commit reads or writes. May throw to abandon the commit. */
export type OnStep = () => void;

export const ROWS_PER_STEP = 1_024;
