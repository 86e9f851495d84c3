/** A portion of rows as one row, for aggregates that need no more. */
import type { Arguments } from './arguments.ts';
import type { Cell, Portion, PortionValues } from './rows.ts';
import type { SqlColumn } from './shape.ts';

/** The columns that only a folded table has. No column of a query has such a name. */
export const FOLDED_COUNT = '#count';
export const foldedMax = (column: string) => `#max ${column}`;

/** The column by which the rows of a folded table are read, and whose value they share. */
const BY = 'token_address';
export const isFoldedBy = (column: string) => column === BY;

/** Columns that increase with each row of a portion. */
const ASCENDING = ['id', 'block_number'];

export function foldedColumns(columns: readonly SqlColumn[]): string[] {
  return [...columns.map(({ name }) => name), FOLDED_COUNT, ...ASCENDING.map(foldedMax)];
}

export function* foldRows(
  portions: Iterable<Portion>,
  columns: readonly SqlColumn[],
  args: Arguments,
): Generator<Cell[], void, void> {
  for (const portion of portions) if (portion.count > 0) yield foldRow(portion, columns, args);
}

/**
 * In the order of `foldedColumns`: the sum of amounts, the least of other columns, and what only a folded table has.
 */
function foldRow({ count, filled }: Portion, columns: readonly SqlColumn[], args: Arguments): Cell[] {
  const row = new Array<Cell>(columns.length).fill(null);
  const highest: Record<string, Cell> = {};
  for (const { at, values } of filled) {
    const name = columns[at]?.name ?? '';
    if (name === 'amount') row[at] = sumOf(values, count).toString();
    if (!ASCENDING.includes(name)) continue;
    row[at] = integerAt(values, 0);
    highest[name] = integerAt(values, count - 1);
  }
  const by = args[BY]?.eq;
  row[columns.findIndex(({ name }) => name === BY)] = typeof by === 'string' ? by : null;
  return [...row, BigInt(count), ...ASCENDING.map((name) => highest[name] ?? null)];
}

function sumOf(values: PortionValues, count: number): bigint {
  let sum = 0n;
  for (let i = 0; i < count; i++) sum += BigInt(String(values[i] ?? 0));
  return sum;
}

function integerAt(values: PortionValues, i: number): Cell {
  const value = values[i];
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : null;
}
