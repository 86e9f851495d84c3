/**
 * Recognises amounts that a query orders or compares as the text that they are, where 9 comes after 10. Only what is
 * certainly meant as a number: the answers are SQLite's all the same.
 */
import { comparisonsOf, conjuncts } from '../text/expressions.ts';
import { isGroup, isQuery, isSymbol, isWord, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import type { Query, SelectCore } from '../text/select.ts';
import type { FindColumn } from './computed-columns.ts';
import { isAliasIn, readTerm } from './order.ts';
import { realOf } from './outputs.ts';

/** The names of such columns. */
export function amountsAsText({ cores, order }: Query, core: SelectCore, find: FindColumn): Set<string> {
  const found = new Set<string>();
  const add = (qualifier: string | null, column: string) => {
    const origin = find({ qualifier, column });
    // The result of a query under another name has no such number beside it.
    if (origin !== null && origin.column === column && realOf(origin) !== null) found.add(column);
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
