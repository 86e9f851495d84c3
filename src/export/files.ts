/** Writes one exported file atomically: all of it, or nothing under its name. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { type ColumnSource, fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';

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
 * Writes the batches to a temporary file beside `path` and renames it once it is complete and on disk. The same rows
 * always yield the same bytes. `check` runs between batches and may throw to stop.
 */
export async function writeFile(
  path: string,
  format: Format,
  columns: readonly Column[],
  batches: Iterable<Batch>,
  check: (rows: number) => void,
): Promise<WrittenFile> {
  const partial = `${path}.partial`;
  try {
    const sink = format === 'parquet' ? parquetSink(partial, columns) : csvSink(partial, columns);
    let rows = 0;
    for (const batch of batches) {
      await sink.write(batch);
      rows += batch.rowCount;
      check(rows);
    }
    await sink.finish();
    const written = { rows, bytes: syncFile(partial), sha256: await sha256Of(partial) };
    renameSync(partial, path);
    return written;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** One row group per batch. zstd level 1 takes a third of the time of the library's own compression and fewer bytes. */
function parquetSink(path: string, columns: readonly Column[]): RowSink {
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

function csvSink(path: string, columns: readonly Column[]): RowSink {
  const file = openSync(path, 'w');
  writeSync(file, `${columns.map(({ name }) => name).join()}\n`);
  return {
    write({ values, rowCount }) {
      const lines: string[] = [];
      for (let row = 0; row < rowCount; row++)
        lines.push(values.map((column) => csvValue(column[row])).join());
      if (rowCount > 0) writeSync(file, `${lines.join('\n')}\n`);
    },
    finish: () => closeSync(file),
  };
}

/** As defined by RFC 4180. */
function csvValue(value: string | number | bigint | Date | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
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

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Parquet types that every engine reads. Addresses, hashes and amounts are strings: an amount may exceed the 38 digits
 * of a Parquet decimal, and text joins with the API's answers without conversion.
 */
type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'TIMESTAMP';

export interface Column {
  name: string;
  type: ColumnType;
  nullable?: true;
  /** Values differ from row to row, so a dictionary would only cost time. */
  distinct?: true;
}

/** The values of one column: null for none; INT64 as bigint, TIMESTAMP as Date. */
type ColumnValues = BigInt64Array | Int32Array | (string | null)[] | (number | null)[] | Date[];

/** Some rows, as one array per column in the order of the table's columns. */
export interface Batch {
  rowCount: number;
  values: ColumnValues[];
}

/** Rows of a batch: large enough for Parquet's row groups, small enough for memory. */
export const BATCH_ROWS = 65_536;
