/** How much a stream does before others have their turn. */

/** How long one turn of the event loop is held, milliseconds. */
export const TURN_MS = 4;

/** Transfers looked at by id at a time. */
export const SCANNED_PER_STEP = 1_000;
