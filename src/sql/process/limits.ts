/** What a query may take. */

/** Rows of an answer, unless asked otherwise. */
export const DEFAULT_ROWS = 10_000;
/** Bytes of an answer, as text. */
export const MAX_ANSWER_BYTES = 16 * 2 ** 20;
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Until the process that runs it is ready, on a machine that is busy with other things. */
export const START_MS = 20_000;

/** Memory of the process that runs it. */
export const MAX_MEMORY_BYTES = 512 * 2 ** 20;
/** Temporary files for sorting; less where the disk has less than four times that. */
export const MAX_TEMPORARY_BYTES = 2 ** 30;

/**
 * The write-ahead log, which cannot start over while any query reads: above this size no query begins until the log has
 * started over, and the oldest of those that read is ended. Half of what makes the indexer wait for readers.
 */
export const MAX_LOG_BYTES = 64 * 2 ** 20;
/** A query may hold the log back this long, however large it is. */
export const LOG_GRACE_MS = 2_000;
/** Longest wait for the log to start over while nobody reads. A backfill's log is large, too. */
export const LOG_WAIT_MS = 2_000;
/** The same while others read. */
export const LONGEST_LOG_WAIT_MS = 30_000;

/** How often memory and time are looked at; files and the log, every fifth time. */
export const WATCH_MS = 50;
export const FILES_EVERY = 5;
