/** The tables that queries can name, in the order of their documentation. */
import { BLOCKS } from './blocks.ts';
import { foldedColumns } from './fold.ts';
import { FIRST_BUYERS, FUNDINGS } from './fundings.ts';
import type { TableUse } from './shape.ts';
import { HOLDERS, TOKENS, WALLETS } from './snapshots.ts';
import type { SqlTable } from './table.ts';
import { NAMED_TRADES, TRADES } from './trades.ts';
import { NAMED_TRANSFERS, TRANSFERS } from './transfers.ts';

export const TABLES: readonly SqlTable[] = [
  TRANSFERS,
  NAMED_TRANSFERS,
  BLOCKS,
  TOKENS,
  WALLETS,
  HOLDERS,
  FUNDINGS,
  FIRST_BUYERS,
  TRADES,
  NAMED_TRADES,
];

export const SHAPES = TABLES.map(({ shape }) => shape);

/** The columns of a table as one place of a query reads it, in the order of its rows. */
export function columnNames({ table, isFolded }: TableUse): string[] {
  const { columns } = SHAPES.find(({ name }) => name === table)!;
  return isFolded ? foldedColumns(columns) : columns.map(({ name }) => name);
}
