/** Recognises a query whose order is that in which its one table is read anyway, so that its LIMIT ends the reading. */

import type { TableShape } from '../tables/shape.ts';
import type { FromItem } from '../text/from-clause.ts';
import { isGroup, isSymbol, isWord, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import type { Query, SelectCore } from '../text/select.ts';
import type { Condition } from './conditions.ts';
import type { ScopeItem } from './scope.ts';
import { isStar } from './used-columns.ts';

/** The ORDER BY clause that needs no sorting. */
export interface ReadOrder {
  start: number;
  end: number;
  isAscending: boolean;
}

/** Null where rows must be sorted. */
export function orderOf(
  { cores, order }: Query,
  core: SelectCore,
  from: readonly FromItem[],
  [item]: readonly ScopeItem[],
  placed: ReadonlyMap<number, readonly Condition[]>,
  { timesAscend }: { timesAscend: boolean },
): ReadOrder | null {
  if (order === null || cores.length > 1 || from.length > 1 || !item?.shape) return null;
  if (core.hasGroups || core.isDistinct || hasWindow(core.nodes)) return null;
  // Values of a list are read one after the other.
  const conditions = placed.get(0) ?? [];
  if (conditions.some(({ op }) => op === 'in')) return null;
  const { ordered } = item.shape;
  const terms = splitAtCommas(order.terms).map(readTerm);
  const first = terms[0];
  if (!first) return null;
  const isAscending = first.isAscending;
  // A history is read from its end.
  if (isAscending && conditions.some(({ op }) => op === 'eq')) return null;
  for (const term of terms) {
    const isOrdered =
      term !== null &&
      term.isAscending === isAscending &&
      (term.qualifier === null || term.qualifier === item.alias) &&
      ordered.includes(term.column) &&
      (timesAscend || !term.column.endsWith('timestamp')) &&
      !isAliasIn(core.results, term.column);
    if (!isOrdered) return null;
    if (term.column === item.shape.unique) break; // what follows orders nothing
  }
  return { start: order.start, end: order.end, isAscending };
}

interface Term {
  qualifier: string | null;
  column: string;
  isAscending: boolean;
}

export function readTerm(nodes: readonly Node[]): Term | null {
  const last = nodes.at(-1);
  const hasDirection = isWord(last, 'asc', 'desc');
  const name = hasDirection ? nodes.slice(0, -1) : nodes;
  const isAscending = !isWord(last, 'desc');
  const first = nameOf(name[0]);
  const second = nameOf(name[2]);
  if (name.length === 1 && first !== undefined) return { qualifier: null, column: first, isAscending };
  if (name.length === 3 && isSymbol(name[1], '.') && first !== undefined && second !== undefined)
    return { qualifier: first, column: second, isAscending };
  return null;
}

/** Whether a result may have this name without being the column. */
export function isAliasIn(results: readonly Node[], column: string): boolean {
  return splitAtCommas(results).some((result) => {
    const isColumn = result.length === 1 || (result.length === 3 && isSymbol(result[1], '.'));
    return !isColumn && !isStar(result.at(-1), result.at(-2)) && nameOf(result.at(-1)) === column;
  });
}

/** Whether a window function orders rows in its own way. */
function hasWindow(nodes: readonly Node[]): boolean {
  return hasAny(nodes, ['over']);
}

function hasAny(nodes: readonly Node[], words: readonly string[]): boolean {
  return nodes.some((node) => (isGroup(node) ? hasAny(node.nodes, words) : isWord(node, ...words)));
}

/**
 * Whether the one result is the lowest or highest value of a column in whose order the table is read, which its first
 * row has: `SELECT max(timestamp) FROM blocks`. Null otherwise.
 */
export function extremeOf(
  core: SelectCore,
  from: readonly FromItem[],
  [item]: readonly ScopeItem[],
  { timesAscend }: { timesAscend: boolean },
): { isAscending: boolean } | null {
  if (from.length > 1 || !item?.shape || core.where.length > 0 || core.hasGroups) return null;
  const calls = extremesIn(core.results, item.shape);
  const [first] = calls ?? [];
  if (calls === null || first === undefined || calls.some(({ name }) => name !== first.name)) return null;
  if (calls.some(({ column }) => !timesAscend && column.endsWith('timestamp'))) return null;
  return { isAscending: first.name === 'min' };
}

/** The calls of min and max, or null where the results read the table in any other way. */
function extremesIn(nodes: readonly Node[], shape: TableShape): { name: string; column: string }[] | null {
  const found: { name: string; column: string }[] = [];
  for (const [i, node] of nodes.entries()) {
    const before = nodes[i - 1];
    if (!isGroup(node)) {
      const isRead = shape.columns.some(({ name }) => name === nameOf(node)) || isStar(node, before);
      if (isRead || isWord(node, 'over', 'filter', ...AGGREGATES)) return null;
      continue;
    }
    const column = node.nodes.length === 1 ? nameOf(node.nodes[0]) : undefined;
    if (isWord(before, 'min', 'max') && column !== undefined && shape.ordered.includes(column)) {
      found.push({ name: nameOf(before) ?? '', column });
      continue;
    }
    if (isWord(before, 'min', 'max')) return null;
    const inner = isWord(node.nodes[0], 'select', 'with', 'values') ? null : extremesIn(node.nodes, shape);
    if (inner === null) return null;
    found.push(...inner);
  }
  return found;
}

/** How a LIMIT ends the reading of a table whose rows pass to the answer as they are read; null where it does not. */
export function endByLimit(
  { cores, limit, order: asked }: Query,
  core: SelectCore,
  from: readonly FromItem[],
  order: ReadOrder | null,
): { rows: number | null; isBounded: boolean } | null {
  if (limit === null || cores.length > 1 || from.length > 1) return null;
  if ((asked !== null && order === null) || core.hasGroups || core.isDistinct) return null;
  if (hasAny(core.results, ['over', 'min', 'max', ...AGGREGATES])) return null;
  return { rows: rowsOf(limit), isBounded: core.where.length === 0 };
}

/** The rows up to the last one of `LIMIT 50`, `LIMIT 50 OFFSET 100` or `LIMIT 100, 50`; null for any expression. */
function rowsOf(limit: readonly Node[]): number | null {
  const [first, separator, second, ...rest] = limit;
  const isPair = isWord(separator, 'offset') || isSymbol(separator, ',');
  if (rest.length > 0 || (separator !== undefined && !isPair)) return null;
  const numbers = [first, ...(isPair ? [second] : [])].map((node) =>
    node?.kind === 'number' && /^\d+$/.test(node.value) ? Number(node.value) : Number.NaN,
  );
  const rows = numbers.reduce((sum, number) => sum + number, 0);
  return Number.isSafeInteger(rows) ? rows : null;
}

/** Functions that read all rows whatever their arguments are. */
const AGGREGATES = [
  'count',
  'sum',
  'total',
  'avg',
  'group_concat',
  'string_agg',
  'sum_amount',
  'json_group_array',
];
