/**
 * Recognises aggregates over the transfers of one token, which a table can compute for many rows at once: handing each
 * row to SQLite costs more than reading it. Each row of a folded table stands for a portion of rows.
 */
import { FOLDED_COUNT, foldedMax, isFoldedBy } from '../tables/fold.ts';
import { comparisonsOf, conjuncts } from '../text/expressions.ts';
import type { FromItem } from '../text/from-clause.ts';
import { type Group, isGroup, isSymbol, isWord, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import type { Query, SelectCore } from '../text/select.ts';
import type { Condition } from './conditions.ts';
import type { ScopeItem } from './scope.ts';

export interface Fold {
  /** Replacements in the results. */
  edits: { start: number; end: number; text: string }[];
  /** The columns of the aggregates. */
  columns: ReadonlySet<string>;
}

/** Null for any query but `SELECT count(*), sum_amount(amount), ... FROM transfers WHERE token_address = value`. */
export function foldOf(
  { cores, order }: Query,
  core: SelectCore,
  from: readonly FromItem[],
  [item]: readonly ScopeItem[],
  placed: ReadonlyMap<number, readonly Condition[]>,
): Fold | null {
  if (cores.length > 1 || from.length > 1 || order !== null || !item?.shape?.isFoldable) return null;
  if (core.hasGroups || core.isDistinct || core.nodes.some((node) => isWord(node, 'window'))) return null;
  const [condition, other] = placed.get(0) ?? [];
  const isAlone = conjuncts(core.where).length === 1 && comparisonsOf(core.where).length === 1;
  if (condition === undefined || other !== undefined || !isAlone) return null;
  if (condition.op !== 'eq' || !isFoldedBy(condition.column) || condition.needs.size > 0) return null;
  const calls = splitAtCommas(core.results).map((nodes) => callIn(nodes, item.alias));
  const columns = new Set<string>();
  const edits: Fold['edits'] = [];
  for (const call of calls) {
    if (call === null) return null;
    const { name, argument, start, end } = call;
    if (argument !== null) columns.add(argument);
    if (name === 'count') edits.push({ start, end, text: `ifnull(sum("${FOLDED_COUNT}"), 0)` });
    if (name === 'max' && argument !== null)
      edits.push({ start, end, text: `max("${foldedMax(argument)}")` });
  }
  return { edits, columns };
}

interface AggregateCall {
  name: 'count' | 'sum_amount' | 'min' | 'max';
  /** Null for an asterisk. */
  argument: string | null;
  start: number;
  end: number;
}

const ARGUMENTS: Record<AggregateCall['name'], readonly (string | null)[]> = {
  count: [null],
  sum_amount: ['amount'],
  min: ['id', 'block_number'],
  max: ['id', 'block_number'],
};

/** A result that is nothing but a call, perhaps with a name behind it. */
function callIn(nodes: readonly Node[], alias: string | null): AggregateCall | null {
  const [name, group, ...rest] = nodes;
  if (name?.kind !== 'word' || !isGroup(group) || !isName(rest)) return null;
  const argument = argumentIn(group, alias);
  for (const known of ['count', 'sum_amount', 'min', 'max'] as const)
    if (name.value === known && argument !== undefined && ARGUMENTS[known].includes(argument))
      return { name: known, argument, start: name.start, end: group.end };
  return null;
}

/** A column of the table, null for an asterisk, undefined for anything else. */
function argumentIn({ nodes }: Group, alias: string | null): string | null | undefined {
  const isQualified = nodes.length === 3 && isSymbol(nodes[1], '.') && nameOf(nodes[0]) === alias;
  if (isQualified) return nameOf(nodes[2]);
  if (nodes.length !== 1) return undefined;
  return isSymbol(nodes[0], '*') ? null : nameOf(nodes[0]);
}

function isName(nodes: readonly Node[]): boolean {
  const name = isWord(nodes[0], 'as') ? nodes.slice(1) : nodes;
  return (
    nodes.length === 0 ||
    (name.length === 1 && name[0]?.kind !== 'symbol' && !isWord(name[0], 'filter', 'over'))
  );
}
