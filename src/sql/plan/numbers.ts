/**
 * Numbers that a query writes as text, such as `block_number = '5'`. PostgreSQL reads them by the column's type; the
 * columns of virtual tables have none, and in SQLite no text equals a number.
 */
import { type ColumnName, comparisonsIn } from '../text/expressions.ts';
import { type Node, splitAtCommas } from '../text/nodes.ts';
import type { ScopeItem } from './scope.ts';

const NUMBER = /^\s*[+-]?\d{1,18}(?:\.\d+)?\s*$/;

/** The replacements of such texts where a condition compares a column of numbers with them. */
export function numberEdits(
  condition: readonly Node[],
  items: readonly ScopeItem[],
): { start: number; end: number; text: string }[] {
  return comparisonsIn(condition).flatMap((comparison) => {
    if (!isNumeric(comparison.left, items)) return [];
    const values = comparison.op === 'in' ? splitAtCommas(comparison.list.nodes) : [comparison.value];
    return values.flatMap(([only, more]) => {
      if (only?.kind !== 'string' || more !== undefined || !NUMBER.test(only.value)) return [];
      return [{ start: only.start, end: only.end, text: `(${only.value.trim()})` }];
    });
  });
}

/** Whether every table that the name may belong to has numbers in that column. */
function isNumeric({ qualifier, column }: ColumnName, items: readonly ScopeItem[]): boolean {
  const types = items
    .filter(({ alias }) => qualifier === null || alias === qualifier)
    .map(({ shape }) => shape?.columns.find(({ name }) => name === column)?.type)
    .filter((type) => type !== undefined);
  return types.length > 0 && !types.includes('text');
}
