/** Conditions as the operands of AND and OR, and comparisons of a column with an expression. */
import { type Group, isGroup, isQuery, isSymbol, isWord, type Node, nameOf } from './nodes.ts';

/** The operands of AND, within parentheses too. A single operand where the condition is an OR or anything else. */
export function conjuncts(condition: readonly Node[]): Node[][] {
  if (hasWord(condition, 'or')) return [[...condition]];
  return splitAtWord(condition, 'and').flatMap((part) => {
    const [only] = part;
    return part.length === 1 && isGroup(only) && !isQuery(only) ? conjuncts(only.nodes) : [part];
  });
}

/** The operands of OR; null where the condition is none. */
export function alternatives(condition: readonly Node[]): Node[][] | null {
  const [only] = condition;
  if (condition.length === 1 && isGroup(only) && !isQuery(only)) return alternatives(only.nodes);
  return hasWord(condition, 'or') ? splitAtWord(condition, 'or') : null;
}

function hasWord(nodes: readonly Node[], word: string): boolean {
  return splitAtWord(nodes, word).length > 1;
}

/** Splits outside CASE. The AND of a BETWEEN splits nothing. */
function splitAtWord(nodes: readonly Node[], word: string): Node[][] {
  const parts: Node[][] = [[]];
  let cases = 0;
  let betweens = 0;
  for (const node of nodes) {
    if (isWord(node, 'case')) cases++;
    if (isWord(node, 'end') && cases > 0) cases--;
    if (cases === 0 && isWord(node, 'between')) betweens++;
    const isOfBetween = cases === 0 && betweens > 0 && isWord(node, 'and');
    if (isOfBetween) betweens--;
    if (cases === 0 && !isOfBetween && isWord(node, word)) parts.push([]);
    else parts.at(-1)!.push(node);
  }
  return parts;
}

/** The comparisons of all operands of AND and OR. */
export function comparisonsIn(condition: readonly Node[]): Comparison[] {
  return conjuncts(condition).flatMap(
    (part) => alternatives(part)?.flatMap(comparisonsIn) ?? comparisonsOf(part),
  );
}

/** A column as written. */
export interface ColumnName {
  qualifier: string | null;
  column: string;
}

export type Comparison =
  | { left: ColumnName; op: 'eq' | 'min' | 'max'; value: Node[] }
  | { left: ColumnName; op: 'in'; list: Group };

const OPERATORS: Record<string, 'eq' | 'min' | 'max'> = {
  '=': 'eq',
  '==': 'eq',
  '>': 'min',
  '>=': 'min',
  '<': 'max',
  '<=': 'max',
};
const FLIPPED = { eq: 'eq', min: 'max', max: 'min' } as const;

/**
 * What a condition says about columns: `column = value`, a bound, BETWEEN, IN, or the same with the column at the
 * right. Empty for anything else. Both sides of `a = b` may be columns.
 */
export function comparisonsOf(condition: readonly Node[]): Comparison[] {
  const found: Comparison[] = [];
  const leading = columnAtStart(condition);
  if (leading !== null) found.push(...afterColumn(leading.name, condition.slice(leading.length)));
  const trailing = columnAtEnd(condition);
  if (trailing !== null) found.push(...trailing);
  return found;
}

/** A column at the start of nodes, and how many of them it takes. */
export function columnAtStart(nodes: readonly Node[]): { name: ColumnName; length: number } | null {
  const first = nameOf(nodes[0]);
  if (first === undefined) return null;
  if (!isSymbol(nodes[1], '.')) return { name: { qualifier: null, column: first }, length: 1 };
  const column = nameOf(nodes[2]);
  return column === undefined ? null : { name: { qualifier: first, column }, length: 3 };
}

function afterColumn(left: ColumnName, [operator, ...rest]: readonly Node[]): Comparison[] {
  if (operator?.kind === 'symbol') {
    const op = OPERATORS[operator.value];
    return op !== undefined && isPlainValue(rest) ? [{ left, op, value: rest }] : [];
  }
  if (isWord(operator, 'in')) {
    const [list, more] = rest;
    return isGroup(list) && more === undefined ? [{ left, op: 'in', list }] : [];
  }
  if (!isWord(operator, 'between')) return [];
  const and = rest.findIndex((node) => isWord(node, 'and'));
  const [low, high] = [rest.slice(0, and), rest.slice(and + 1)];
  if (and < 0 || !isPlainValue(low) || !isPlainValue(high)) return [];
  return [
    { left, op: 'min', value: low },
    { left, op: 'max', value: high },
  ];
}

/** `value = column`, and `value IN (column, column)` as one comparison of each column. */
function columnAtEnd(nodes: readonly Node[]): Comparison[] | null {
  const at = nodes.findIndex((node) => node.kind === 'symbol' && node.value in OPERATORS);
  const operator = nodes[at];
  if (operator?.kind !== 'symbol') return null;
  const right = columnAtStart(nodes.slice(at + 1));
  if (right === null || right.length !== nodes.length - at - 1) return null;
  const value = nodes.slice(0, at);
  const op = OPERATORS[operator.value];
  return op !== undefined && isPlainValue(value) ? [{ left: right.name, op: FLIPPED[op], value }] : null;
}

const COMPARING = ['and', 'or', 'not', 'is', 'in', 'like', 'glob', 'match', 'regexp', 'between', 'isnull'];
const COMPARING_SYMBOLS = ['=', '==', '!=', '<>', '<', '<=', '>', '>='];

/** Whether nodes are one operand that a comparison takes as it stands: no other comparison, no collation of its own. */
export function isPlainValue(nodes: readonly Node[]): boolean {
  if (nodes.length === 0) return false;
  let cases = 0;
  return nodes.every((node) => {
    if (isWord(node, 'case')) cases++;
    if (isWord(node, 'end')) cases--;
    if (isWord(node, 'collate', 'notnull', 'escape')) return false;
    if (cases > 0) return true;
    return !isWord(node, ...COMPARING) && !(node.kind === 'symbol' && COMPARING_SYMBOLS.includes(node.value));
  });
}
