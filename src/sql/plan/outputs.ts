/** Which columns of tables the results of a query are, so that queries around it know what they read. */
import { REAL } from '../tables/rows.ts';
import { type ColumnName, columnAtStart } from '../text/expressions.ts';
import { isSymbol, isWord, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import type { SelectCore } from '../text/select.ts';
import { hasColumn, type Origin, type Output, type ScopeItem } from './scope.ts';

/** The column that a name means; null where several tables may have it, or where it is none of a table. */
export function originOf({ qualifier, column }: ColumnName, items: readonly ScopeItem[]): Origin | null {
  const named = items.filter((item) =>
    qualifier === null ? mayHave(item, column) : item.alias === qualifier,
  );
  const [only, other] = named;
  if (only === undefined || other !== undefined) return null;
  if (only.shape !== null) return hasColumn(only, column) ? { shape: only.shape, column } : null;
  return only.outputs?.find(({ name }) => name === column)?.origin ?? null;
}

function mayHave(item: ScopeItem, column: string): boolean {
  if (item.shape !== null) return hasColumn(item, column);
  return item.outputs === null || item.outputs.some(({ name }) => name === column);
}

/** The column with the nearest floating-point number of an amount. */
export function realOf({ shape, column }: Origin): string | null {
  return shape.columns.find(({ name }) => name === column + REAL)?.name ?? null;
}

/** Whether a column is a decimal number as text. */
export function isAmount(origin: Origin): boolean {
  return realOf(origin) !== null || origin.column.endsWith('quantity');
}

export function isTime({ column }: Origin): boolean {
  return column.endsWith('timestamp');
}

/** Null where the results are not known. */
export function outputsOf({ nodes, results }: SelectCore, items: readonly ScopeItem[]): Output[] | null {
  if (!isWord(nodes[0], 'select')) return null;
  const outputs: Output[] = [];
  for (const result of splitAtCommas(results)) {
    const found = isSymbol(result.at(-1), '*') ? columnsOf(result, items) : [outputOf(result, items)];
    if (found === null) return null;
    outputs.push(...found);
  }
  return outputs;
}

/** `*`, or `alias.*`. */
function columnsOf(star: readonly Node[], items: readonly ScopeItem[]): Output[] | null {
  const alias = star.length === 1 ? null : nameOf(star[0]);
  const outputs: Output[] = [];
  for (const item of items) {
    if (alias !== null && item.alias !== alias) continue;
    const { shape } = item;
    const found =
      shape?.columns.map(({ name }) => ({ name, origin: { shape, column: name } })) ?? item.outputs;
    if (found === null) return null;
    outputs.push(...found);
  }
  return outputs;
}

function outputOf(result: readonly Node[], items: readonly ScopeItem[]): Output {
  const leading = columnAtStart(result);
  const alias = isSymbol(result.at(-2), '.') ? undefined : nameOf(result.at(-1));
  if (leading === null) return { name: result.length > 1 ? (alias ?? '') : '', origin: null };
  const rest = result.slice(leading.length);
  const isColumn = rest.length === 0 || rest.length === 1 || (rest.length === 2 && isWord(rest[0], 'as'));
  const origin =
    isColumn && (rest.length === 0 || alias !== undefined) ? originOf(leading.name, items) : null;
  return { name: rest.length === 0 ? leading.name.column : (alias ?? ''), origin };
}
