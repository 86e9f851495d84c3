/**
 * Recognises amounts that a query orders or compares as the text that they are, where 9 comes after 10. Only what is
 * certainly meant as a number: the answers are SQLite's all the same.
 */
import { REAL } from '../tables/rows.ts';
import { comparisonsOf, conjuncts } from '../text/expressions.ts';
import { isGroup, isQuery, isSymbol, isWord, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import type { Query, SelectCore } from '../text/select.ts';
import { isAliasIn, readTerm } from './order.ts';
import { hasColumn, type ScopeItem } from './scope.ts';

/** Names of amount columns, by the position of their table in FROM. */
export function amountsAsText(
  { cores, order }: Query,
  core: SelectCore,
  items: readonly ScopeItem[],
): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  const add = (qualifier: string | null, column: string) => {
    const at = itemOf(qualifier, column, items);
    if (at !== null) found.set(at, (found.get(at) ?? new Set()).add(column));
  };
  // Behind another term it may be part of an exact order: length(amount), amount.
  const term = order === null || cores.length > 1 ? null : readTerm(splitAtCommas(order.terms)[0] ?? []);
  if (term !== null && !isAliasIn(core.results, term.column)) add(term.qualifier, term.column);
  for (const { qualifier, column } of extremes(core.results)) add(qualifier, column);
  for (const comparison of conjuncts(core.where).flatMap(comparisonsOf)) {
    const { left, op } = comparison;
    // No number equals a text.
    const isNumber = op === 'eq' && comparison.value.length === 1 && comparison.value[0]?.kind === 'number';
    if (op === 'min' || op === 'max' || isNumber) add(left.qualifier, left.column);
  }
  return found;
}

/** The only table with this column, and its position in FROM; null if other tables could have the column too. */
function itemOf(qualifier: string | null, column: string, items: readonly ScopeItem[]): number | null {
  const named = [...items.entries()].filter(([, item]) =>
    qualifier === null ? item.shape === null || hasColumn(item, column) : item.alias === qualifier,
  );
  const [only, other] = named;
  return only !== undefined && other === undefined && hasColumn(only[1], column + REAL) ? only[0] : null;
}

/** The columns of min(column) and max(column), outside inner queries. */
function extremes(nodes: readonly Node[]): { qualifier: string | null; column: string }[] {
  return nodes.flatMap((node, i) => {
    if (!isGroup(node) || isQuery(node)) return [];
    const [first, dot, second, ...rest] = node.nodes;
    const isQualified = isSymbol(dot, '.') && rest.length === 0;
    const column = dot === undefined ? nameOf(first) : isQualified ? nameOf(second) : undefined;
    if (!isWord(nodes[i - 1], 'min', 'max') || column === undefined) return extremes(node.nodes);
    return [{ qualifier: isQualified ? (nameOf(first) ?? null) : null, column }];
  });
}
