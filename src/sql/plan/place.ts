/** Chooses for each table of a FROM clause the conditions that its rows are read by. */
import { type Parameter, READS, readsOf } from '../tables/shape.ts';
import type { FromItem } from '../text/from-clause.ts';
import type { Condition } from './conditions.ts';
import type { ScopeItem } from './scope.ts';

/**
 * A value from another table makes SQLite read that table first. So tables get a place one after the other, each with
 * the conditions on constants and on tables placed before: no two wait for each other. Inner joins start with the table
 * of which least is read; a LEFT or CROSS JOIN fixes the order.
 */
export function placeTables(
  from: readonly FromItem[],
  items: readonly ScopeItem[],
  conditions: readonly Condition[],
): Map<number, Condition[]> {
  const chosen = new Map<number, Condition[]>();
  const isFixed = from.some(({ join }) => join !== 'inner');
  const placed = new Set<number>();
  // What a query or a function in FROM gives is there before any table is read.
  if (!isFixed) for (const [at, { shape }] of items.entries()) if (shape === null) placed.add(at);
  while (placed.size < items.length) {
    const free = items.flatMap((_, at) => (placed.has(at) ? [] : [at]));
    const [next] = isFixed ? free : free.sort((a, b) => cost(a, usable(a)) - cost(b, usable(b)) || a - b);
    if (next === undefined) break;
    chosen.set(next, usable(next));
    placed.add(next);
  }
  return chosen;

  function usable(at: number): Condition[] {
    const shape = items[at]?.shape;
    const found = new Map<string, Condition>();
    for (const condition of conditions) {
      const { item, column, op, needs } = condition;
      const isIndexed = shape?.indexed[column]?.ops.includes(op) ?? false;
      if (item !== at || !isIndexed || ![...needs].every((other) => placed.has(other))) continue;
      // One value is enough: the query checks the others itself. A constant is better than another table's value.
      const key = `${column} ${op === 'in' ? 'eq' : op}`;
      const before = found.get(key);
      if (before === undefined || isBetter(condition, before)) found.set(key, condition);
    }
    return [...found.values()];
  }

  /** Of a table that is read whole, one with other conditions on it is cheaper. */
  function cost(at: number, conditions: readonly Condition[]): number {
    const shape = items[at]?.shape;
    if (!shape) return 0;
    const reads = readsOf(shape, conditions.map(parameterOf));
    return reads === READS.scan ? shape.scanCost : reads;
  }
}

function isBetter(a: Condition, b: Condition): boolean {
  if (a.needs.size !== b.needs.size) return a.needs.size < b.needs.size;
  return a.op === 'eq' && b.op === 'in';
}

export function parameterOf({ column, op }: Condition): Parameter {
  return { column, op };
}
