/** The rows of the exported tables by column, whoever reads them: files or SQL. */
import type { AddressBookOptions } from '../store/read/address-book.ts';

/**
 * Parquet types that every engine reads. Addresses, hashes and amounts are strings: an amount may exceed the 38 digits
 * of a Parquet decimal, and text joins with the API's answers without conversion.
 */
export type FileColumnType = 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP' | 'BOOLEAN';

export interface FileColumn {
  name: string;
  type: FileColumnType;
  nullable?: true;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
}

/** The values of one column: null for none; INT64 as bigint, TIMESTAMP as Date. */
export type ColumnValues =
  | BigInt64Array
  | Int32Array
  | (string | null)[]
  | (number | null)[]
  | boolean[]
  | Date[];

/** Some rows, as one array per column in the order of the table's columns. */
export interface Batch {
  rowCount: number;
  values: ColumnValues[];
}

/** The options of the address books of all tables. */
export const EXPORT_ADDRESSES: AddressBookOptions = { wallets: 1 << 18, tokens: 1 << 13, prefix: '0x' };

/** Rows of a batch: large enough for Parquet's row groups, small enough for memory. */
export const BATCH_ROWS = 65_536;
