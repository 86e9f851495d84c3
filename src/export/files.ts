/** Writes one exported file, in either format, completely or not at all. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { type ColumnSource, fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';
import { csvLine } from '../lib/csv.ts';
import type { AddressBookOptions } from '../store/read/address-book.ts';

export const FORMATS = ['parquet', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export interface WrittenFile {
  rows: number;
  bytes: number;
  sha256: string;
}

/** Receives the rows of a file. */
interface RowSink {
  write(batch: Batch): void | Promise<void>;
  finish(): void | Promise<void>;
}

/**
 * Writes the batches to `path` and flushes them to the disk. The same rows always yield the same bytes. `check` runs
 * between batches and may throw to stop. A failure leaves no file.
 */
export async function writeFile(
  path: string,
  format: Format,
  columns: readonly FileColumn[],
  batches: Iterable<Batch>,
  check: (rows: number) => void,
): Promise<WrittenFile> {
  try {
    const sink = format === 'parquet' ? parquetSink(path, columns) : csvSink(path, columns);
    let rows = 0;
    for (const batch of batches) {
      await sink.write(batch);
      rows += batch.rowCount;
      check(rows);
    }
    await sink.finish();
    return { rows, bytes: syncFile(path), sha256: await sha256Of(path) };
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** One row group per batch. zstd level 1 takes a third of the time of the library's own compression and fewer bytes. */
function parquetSink(path: string, columns: readonly FileColumn[]): RowSink {
  const sources = (values: Batch['values'] | null): ColumnSource[] =>
    columns.map(({ name, type, nullable = false, distinct = false }, i) => ({
      name,
      type,
      nullable,
      data: values?.[i] ?? [],
      // Minimum and maximum of addresses and hashes help no engine to skip rows.
      statistics: type !== 'STRING',
      ...(distinct && { encoding: type === 'INT64' ? 'DELTA_BINARY_PACKED' : 'PLAIN' }),
    }));
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: schemaFromColumnData({ columnData: sources(null) }),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'atlas-node',
  });
  return {
    write: ({ values, rowCount }) =>
      rowCount > 0 ? writer.write({ columnData: sources(values), rowGroupSize: rowCount }) : undefined,
    finish: () => writer.finish(),
  };
}

function csvSink(path: string, columns: readonly FileColumn[]): RowSink {
  const file = openSync(path, 'w');
  writeSync(file, `${csvLine(columns.map(({ name }) => name))}\n`);
  return {
    write({ values, rowCount }) {
      const lines: string[] = [];
      for (let row = 0; row < rowCount; row++) lines.push(csvLine(values.map((column) => column[row])));
      if (rowCount > 0) writeSync(file, `${lines.join('\n')}\n`);
    },
    finish: () => closeSync(file),
  };
}

/** Flushes the file to the disk and returns its size. */
function syncFile(path: string): number {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return statSync(path).size;
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Parquet types that every engine reads. Addresses, hashes and amounts are strings: an amount may exceed the 38 digits
 * of a Parquet decimal, and text joins with the API's answers without conversion.
 */
type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP' | 'BOOLEAN';

export interface FileColumn {
  name: string;
  type: ColumnType;
  nullable?: true;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
}

/** The values of one column: null for none; INT64 as bigint, TIMESTAMP as Date. */
type ColumnValues = BigInt64Array | Int32Array | (string | null)[] | (number | null)[] | boolean[] | Date[];

/** Some rows, as one array per column in the order of the table's columns. */
export interface Batch {
  rowCount: number;
  values: ColumnValues[];
}

/** The options of the address books of all tables. */
export const EXPORT_ADDRESSES: AddressBookOptions = { wallets: 1 << 18, tokens: 1 << 13, prefix: '0x' };

/** Rows of a batch: large enough for Parquet's row groups, small enough for memory. */
export const BATCH_ROWS = 65_536;
