/** The conditions of a SELECT on its tables that lead to an index, with the values they compare with. */
import { EITHER_SIDE, type Op } from '../tables/shape.ts';
import {
  alternatives,
  type ColumnName,
  comparisonsOf,
  conjuncts,
  isPlainValue,
} from '../text/expressions.ts';
import type { FromItem } from '../text/from-clause.ts';
import { isQuery, isWord, type Node, splitAtCommas } from '../text/nodes.ts';
import type { SelectCore } from '../text/select.ts';
import { type FindShape, hasColumn, itemsIn, type ScopeItem } from './scope.ts';

/** A value of the query, as a part of its text: it may contain queries that are rewritten too. */
export type Value =
  | { kind: 'expression'; nodes: readonly Node[] }
  | { kind: 'list'; items: readonly (readonly Node[])[] }
  | { kind: 'query'; nodes: readonly Node[] }
  | { kind: 'column'; item: number; column: string };

export interface Condition {
  /** The table that it is about, as a position in FROM. */
  item: number;
  column: string;
  op: Op;
  value: Value;
  /** The other tables that the value depends on. */
  needs: ReadonlySet<number>;
}

/** Functions whose value differs from call to call. */
const VOLATILE = ['random', 'randomblob', 'changes', 'total_changes', 'last_insert_rowid'];

/** Empty where a join other than an inner or left one makes moving conditions unsafe. */
export function conditionsOf(
  core: SelectCore,
  from: readonly FromItem[],
  items: readonly ScopeItem[],
  shapeOf: FindShape,
): Condition[] {
  if (from.some(({ join }) => join === 'other')) return [];
  const inWhere = readConditions(core.where, from, items, shapeOf);
  const inJoins = from.flatMap(({ on, using, join }, at) => {
    const found = [...readConditions(on, from, items, shapeOf), ...sharedColumns(using, at, items)];
    // The ON of a LEFT JOIN leaves the rows of the tables before it as they are.
    return join === 'left' ? found.filter(({ item }) => item === at) : found;
  });
  return [...inWhere, ...inJoins];
}

function readConditions(
  condition: readonly Node[],
  from: readonly FromItem[],
  items: readonly ScopeItem[],
  shapeOf: FindShape,
): Condition[] {
  if (condition.length === 0) return [];
  const found: Condition[] = [];
  const add = (left: ColumnName, op: Op, value: Value, nodes: readonly Node[]) => {
    if (containsVolatile(nodes)) return;
    const needs = itemsIn(nodes, items, shapeOf);
    for (const item of itemsWith(left, from, items))
      if (!needs.has(item)) found.push({ item, column: left.column, op, value, needs });
  };
  for (const part of conjuncts(condition)) {
    const branches = alternatives(part);
    if (branches !== null) {
      const value = equalInAll(branches, from, items);
      if (value !== null) add(value.left, value.op, value.value, value.nodes);
      continue;
    }
    const sides = eitherSideOf(part);
    if (sides !== null) add(sides.left, 'eq', { kind: 'expression', nodes: sides.value }, sides.value);
    for (const comparison of comparisonsOf(part)) {
      if (comparison.op !== 'in')
        add(
          comparison.left,
          comparison.op,
          { kind: 'expression', nodes: comparison.value },
          comparison.value,
        );
      else add(comparison.left, ...listOf(comparison.list.nodes), [comparison.list]);
    }
  }
  return found;
}

function listOf(nodes: readonly Node[]): [Op, Value] {
  if (isWord(nodes[0], 'select', 'with', 'values')) return ['in', { kind: 'query', nodes }];
  const values = splitAtCommas(nodes).filter((value) => value.length > 0);
  const [only] = values;
  return values.length === 1 && only !== undefined
    ? ['eq', { kind: 'expression', nodes: only }]
    : ['in', { kind: 'list', items: values }];
}

/** The equality of USING (column) with each table before, in both directions. */
function sharedColumns(using: readonly string[], at: number, items: readonly ScopeItem[]): Condition[] {
  return using.flatMap((column) => {
    const others = items.flatMap((item, i) => (i < at && hasColumn(item, column) ? [i] : []));
    const isKnown = items[at] !== undefined && hasColumn(items[at], column);
    return others.flatMap((other): Condition[] => [
      ...(isKnown ? [equalColumns(at, other, column)] : []),
      ...(items[at]?.shape === null || isKnown ? [equalColumns(other, at, column)] : []),
    ]);
  });
}

function equalColumns(item: number, other: number, column: string): Condition {
  const value: Value = { kind: 'column', item: other, column };
  return { item, column, op: 'eq', value, needs: new Set([other]) };
}

/** The tables that a column name means; several where USING makes their columns one. */
function itemsWith(
  { qualifier, column }: ColumnName,
  from: readonly FromItem[],
  items: readonly ScopeItem[],
): number[] {
  const having = items.flatMap((item, at) => {
    if (qualifier !== null && item.alias !== qualifier) return [];
    return hasColumn(item, column) || (column === EITHER_SIDE && hasColumn(item, 'from_address')) ? [at] : [];
  });
  const isShared = from.some(({ using }) => using.includes(column));
  return having.length === 1 || (isShared && qualifier === null) ? having : [];
}

interface EqualInAll {
  left: ColumnName;
  op: Op;
  value: Value;
  nodes: readonly Node[];
}

/**
 * What all operands of an OR have in common: the same column equal to a value each, or one wallet that is the sender or
 * the receiver.
 */
function equalInAll(
  branches: readonly (readonly Node[])[],
  from: readonly FromItem[],
  items: readonly ScopeItem[],
): EqualInAll | null {
  const equalities = branches.map((branch) =>
    conjuncts(branch).flatMap((part) => {
      const sides = eitherSideOf(part);
      if (sides !== null) return [sides];
      return comparisonsOf(part).flatMap((found) => (found.op === 'eq' ? [found] : []));
    }),
  );
  const [first = [], ...others] = equalities;
  for (const { left, value } of first) {
    if (!isSide(left) || itemsWith(left, from, items).length !== 1) continue;
    const text = textOf(value);
    const isEverywhere = others.every((found) =>
      found.some(
        (other) =>
          isSide(other.left) && other.left.qualifier === left.qualifier && textOf(other.value) === text,
      ),
    );
    const sides = { ...left, column: EITHER_SIDE };
    if (isEverywhere)
      return { left: sides, op: 'eq', value: { kind: 'expression', nodes: value }, nodes: value };
  }
  for (const { left } of first) {
    const values = equalities.map((found) => found.find((other) => isSame(other.left, left))?.value);
    const list = values.flatMap((value) => (value === undefined ? [] : [value]));
    if (list.length === branches.length)
      return { left, op: 'in', value: { kind: 'list', items: list }, nodes: list.flat() };
  }
  return null;
}

function isSide({ column }: ColumnName): boolean {
  return column === 'from_address' || column === 'to_address' || column === EITHER_SIDE;
}

function isSame(a: ColumnName, b: ColumnName): boolean {
  return a.column === b.column && a.qualifier === b.qualifier;
}

/** `value IN (from_address, to_address)`. */
function eitherSideOf(part: readonly Node[]): { left: ColumnName; value: Node[] } | null {
  const list = part.at(-1);
  if (list?.kind !== 'group' || !isWord(part.at(-2), 'in') || isQuery(list)) return null;
  const value = part.slice(0, -2);
  const columns = splitAtCommas(list.nodes).map(textOf);
  const match = /^(?:(.*)\.)?from_address$/.exec(columns.find((name) => name.endsWith('from_address')) ?? '');
  if (match === null || columns.length !== 2 || !isPlainValue(value)) return null;
  const qualifier = match[1] ?? null;
  if (!columns.includes(qualifier === null ? 'to_address' : `${qualifier}.to_address`)) return null;
  return { left: { qualifier, column: EITHER_SIDE }, value };
}

/** A comparable form of nodes, the same for the same expression. */
function textOf(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'group') return `(${textOf(node.nodes)})`;
      return node.kind === 'string' ? `'${node.value}'` : node.value;
    })
    .join(' ')
    .replaceAll(' . ', '.');
}

function containsVolatile(nodes: readonly Node[]): boolean {
  return nodes.some((node) =>
    node.kind === 'group' ? containsVolatile(node.nodes) : isWord(node, ...VOLATILE),
  );
}
