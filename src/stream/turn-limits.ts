/** How much work a stream does before it yields to others. */

/** Longest work in one turn of the event loop, milliseconds. */
export const MAX_TURN_MS = 4;

/** Transfers scanned by id at a time. */
export const SCANNED_PER_STEP = 1_000;
