/** The columns of an exported table, independent of the file format. */

/**
 * Parquet types that every engine reads. Addresses, hashes and amounts are strings: an amount may exceed the 38 digits
 * of a Parquet decimal, and text joins with the API's answers without conversion.
 */
export type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP';

export interface Column {
  name: string;
  type: ColumnType;
  nullable?: true;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
}

/** The values of one column: null for none; INT64 as bigint, TIMESTAMP as Date. */
export type ColumnValues = BigInt64Array | Int32Array | (string | null)[] | (number | null)[] | Date[];

/** Some rows, as one array per column in the order of the table's columns. */
export interface Batch {
  rowCount: number;
  values: ColumnValues[];
}

/** Rows of a batch: large enough for Parquet's row groups, small enough for memory. */
export const BATCH_ROWS = 65_536;
