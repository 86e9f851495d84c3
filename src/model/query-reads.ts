/** What the operator sees of SQL queries that read the index, of whatever process. */
export interface QueryReads {
  count: number;
  /** For how long the oldest one reads, milliseconds; null without any. */
  oldestMs: number | null;
  /** Of the write-ahead log. */
  logBytes: number;
  /** No query begins above it while others read. */
  logLimitBytes: number;
}
