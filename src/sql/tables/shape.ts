/** What a table offers to queries: its columns, and the conditions that lead to an index. */

export type ColumnType = 'integer' | 'real' | 'text';

export interface SqlColumn {
  name: string;
  type: ColumnType;
  description?: string;
}

/** `eq`: equal to a value; `in`: to any of a JSON list; `min`, `max`: bounds, both included. */
export type Op = 'eq' | 'in' | 'min' | 'max';

/** A condition that the rows of a table are read by. */
export interface Parameter {
  /** A column, or EITHER_SIDE. */
  column: string;
  op: Op;
}

/** The sender or the receiver of a transfer: no column, but a condition that leads to an index. */
export const EITHER_SIDE = 'from_address or to_address';

/** How much is read: one row, a history, a range of rows, or everything. Lower is better. */
export const READS = { row: 0, history: 1, range: 2, scan: 3 } as const;
export type Reads = (typeof READS)[keyof typeof READS];

export interface TableShape {
  name: string;
  description: string;
  columns: readonly SqlColumn[];
  /** Which conditions lead to an index, and how much is then read. */
  indexed: Readonly<Record<string, { ops: readonly Op[]; reads: Reads }>>;
  /** Whose values increase with each row, so that rows can be read in their order. */
  ordered: readonly string[];
  /** The one among them that no two rows share. */
  unique: string | null;
  /** Whether its rows can be aggregated in portions: tables/fold.ts. */
  isFoldable?: boolean;
  /** Compares reading all its rows with reading all those of another table. Above READS.scan. */
  scanCost: number;
}

/** A table as one place of a query reads it. */
export interface TableUse {
  /** Unique in the query. */
  name: string;
  table: string;
  alias: string;
  parameters: readonly Parameter[];
  /** The columns that the query can read; null for all. */
  columns: ReadonlySet<string> | null;
  isAscending: boolean;
  /** The query wants no more than the first row. */
  isFirstOnly: boolean;
  /** A LIMIT ends the reading. */
  isBounded: boolean;
  /** How many rows the query wants unless it rejects some; null where that is not known. */
  firstRows: number | null;
  /** Each row stands for a portion of rows. */
  isFolded: boolean;
}

/** How much a use reads. */
export function readsOf(shape: TableShape, parameters: readonly Parameter[]): Reads {
  return parameters.reduce<Reads>(
    (best, { column }) => lesser(best, shape.indexed[column]?.reads ?? READS.scan),
    READS.scan,
  );
}

function lesser(a: Reads, b: Reads): Reads {
  return a < b ? a : b;
}
