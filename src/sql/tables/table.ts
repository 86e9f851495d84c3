/** A table of queries: its shape, and how its rows are read. */
import type { ConfiguredTradeLists } from '../../model/trade-rules.ts';
import type { Arguments } from './arguments.ts';
import type { IndexEnd, IndexReads } from './index-reads.ts';
import type { Portion } from './rows.ts';
import type { TableShape } from './shape.ts';

export interface SqlTable {
  shape: TableShape;
  /** About how many rows a whole reading gives. */
  estimate(end: IndexEnd, reads: IndexReads): number;
  /** Prepares readings of the rows that the arguments allow, and perhaps of more. */
  prepare(reads: IndexReads, tradeLists: ConfiguredTradeLists): ReadRows;
}

export type ReadRows = (args: Arguments, use: RowUse) => Iterable<Portion>;

export interface RowUse {
  /** The columns that can be read; null for all. */
  columns: ReadonlySet<string> | null;
  isAscending: boolean;
  /** The size of the first portion; null for that of the table. It changes only how soon the answer arrives. */
  firstRows: number | null;
}

/** Whether a query can read one of these columns. */
export function uses({ columns }: RowUse, ...names: string[]): boolean {
  return columns === null || names.some((name) => columns.has(name));
}
