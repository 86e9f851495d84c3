/** From columns of values, as the tables are exported, to the rows of a virtual table. */
import type { ColumnValues, FileColumn, FileColumnType } from '../../export/batch.ts';
import { timeText } from './arguments.ts';
import type { ColumnType, SqlColumn } from './shape.ts';

/** What the driver takes. A number becomes a floating-point number, so integers are bigints. */
export type Cell = string | bigint | number | null;

const TYPES: Record<FileColumnType, ColumnType> = {
  STRING: 'text',
  INT32: 'integer',
  INT64: 'integer',
  TIMESTAMP: 'text',
  BOOLEAN: 'integer',
};

/** The suffix of a column with the nearest floating-point number of an amount, for order and arithmetic. */
export const REAL = '_real';

/** The columns of an exported table. Behind each of `amounts`, its number. */
export function sqlColumns(columns: readonly FileColumn[], amounts: readonly string[]): SqlColumn[] {
  return columns.flatMap(({ name, type }): SqlColumn[] => [
    { name, type: TYPES[type] },
    ...(amounts.includes(name) ? [{ name: name + REAL, type: 'real' as const }] : []),
  ]);
}

export type PortionValues = ColumnValues | readonly Cell[];

/**
 * Rows that were read together. A generator for each of the layers below would take longer than the rows themselves.
 */
export interface Portion {
  count: number;
  isReversed: boolean;
  /** The columns that the query can read; the others are null. */
  filled: readonly { at: number; type: ColumnType; values: PortionValues }[];
}

/** `valuesOf` gives the values of a column, without those of numbers of amounts. */
export function portionOf(
  count: number,
  columns: readonly SqlColumn[],
  used: ReadonlySet<string> | null,
  valuesOf: (column: string) => PortionValues | undefined,
  isReversed = false,
): Portion {
  const filled = columns.flatMap(({ name, type }, at) => {
    if (used !== null && !used.has(name)) return [];
    const values = name.endsWith(REAL) ? valuesOf(name.slice(0, -REAL.length)) : valuesOf(name);
    return values === undefined ? [] : [{ at, type, values }];
  });
  return { count, isReversed, filled };
}

/** Writes a row of a portion into `row`. */
export function fillRow({ count, isReversed, filled }: Portion, i: number, row: Cell[]): void {
  const from = isReversed ? count - 1 - i : i;
  for (const { at, type, values } of filled) row[at] = cellOf(values[from] ?? null, type);
}

function cellOf(value: Cell | Date | boolean, type: ColumnType): Cell {
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (type === 'integer') return typeof value === 'number' ? BigInt(value) : cellOfOther(value);
  if (type === 'real') return Number(value);
  return cellOfOther(value);
}

function cellOfOther(value: Cell | Date): Cell {
  return value instanceof Date ? timeText(value) : value;
}
