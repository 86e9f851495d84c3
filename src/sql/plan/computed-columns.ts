/** Recognises amounts and times, both text, that a query computes with as if they were numbers. */
import { type ColumnName, columnAtStart } from '../text/expressions.ts';
import { isGroup, isQuery, isSymbol, isWord, type Node, nameOf } from '../text/nodes.ts';
import { isAmount, isTime } from './outputs.ts';
import type { Origin } from './scope.ts';

/** Finds the column that a name means; null for one that is not certain. */
export type FindColumn = (name: ColumnName) => Origin | null;

export interface Computed {
  how: 'summed' | 'computed' | 'time';
  /** As the query names it. */
  written: string;
  origin: Origin;
}

const SUMS = ['sum', 'total'];
/** Averages, roots and logarithms are inexact by nature. */
const COMPUTING = ['abs', 'round', 'floor', 'ceil', 'ceiling', 'trunc', 'mod'];
const OPERATORS = ['+', '-', '*', '/', '%'];
/** Types of a CAST that keep a text, or say that a floating-point number is meant. */
const HARMLESS_TYPES = /char|clob|text|string|blob|real|floa|doub/;

/** Outside inner queries, which are read for themselves. `call`: the word in front of the parentheses. */
export function computedColumns(nodes: readonly Node[], find: FindColumn, call?: Node): Computed[] {
  return nodes.flatMap((node, at): Computed[] => {
    const before = nodes[at - 1];
    const operand = operandAt(nodes, at);
    const origin = operand === null ? null : find(operand.name);
    const how =
      origin === null ? null : useOf(origin, before, nodes.slice(at + (operand?.length ?? 1)), call);
    if (operand !== null && origin !== null && how !== null)
      return [{ how, written: writtenOf(operand.name), origin }];
    return isGroup(node) && !isQuery(node) ? computedColumns(node.nodes, find, before) : [];
  });
}

/** A column, or the lowest or highest value of one. */
function operandAt(nodes: readonly Node[], at: number): { name: ColumnName; length: number } | null {
  if (isSymbol(nodes[at - 1], '.')) return null;
  const group = nodes[at + 1];
  if (isWord(nodes[at], 'min', 'max') && isGroup(group)) {
    const inner = columnAtStart(group.nodes);
    return inner !== null && inner.length === group.nodes.length ? { name: inner.name, length: 2 } : null;
  }
  const column = columnAtStart(nodes.slice(at, at + 3));
  return column === null || isGroup(nodes[at + column.length]) ? null : column;
}

function useOf(
  origin: Origin,
  before: Node | undefined,
  [after, type]: readonly Node[],
  call: Node | undefined,
): Computed['how'] | null {
  const isNumber = isAmount(origin);
  if (!isNumber && !isTime(origin)) return null;
  const use = isNumber ? 'computed' : 'time';
  if (isOperator(before) || isOperator(after)) return use;
  if (isWord(call, 'cast') && isWord(after, 'as'))
    return HARMLESS_TYPES.test(nameOf(type) ?? 'text') ? null : use;
  const isAlone =
    (before === undefined || isWord(before, 'distinct', 'all', 'then', 'else')) &&
    (after === undefined || isSymbol(after, ',') || isWord(after, 'when', 'else', 'end'));
  if (!isAlone) return null;
  if (isWord(call, ...SUMS)) return isNumber ? 'summed' : 'time';
  return isWord(call, ...COMPUTING) ? use : null;
}

function isOperator(node: Node | undefined): boolean {
  return node?.kind === 'symbol' && OPERATORS.includes(node.value);
}

function writtenOf({ qualifier, column }: ColumnName): string {
  return qualifier === null ? column : `${qualifier}.${column}`;
}
