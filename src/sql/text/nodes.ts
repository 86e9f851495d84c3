/** A query's tokens with its parentheses as groups. */
import { QueryRefusal } from '../query-refusal.ts';
import { asciiLower, type Token } from './tokens.ts';

/** What stands between a pair of parentheses. */
export interface Group {
  kind: 'group';
  nodes: Node[];
  /** Of the opening parenthesis, and after the closing one. */
  start: number;
  end: number;
}

export type Node = Token | Group;

/** Deepest nesting of parentheses. SQLite allows 1,000 expressions. */
const MAX_DEPTH = 100;

/** Throws QueryRefusal when parentheses do not match. */
export function nodesOf(tokens: readonly Token[]): Node[] {
  const top: Node[] = [];
  const open: Group[] = [];
  for (const token of tokens) {
    const nodes = open.at(-1)?.nodes ?? top;
    if (isSymbol(token, '(')) {
      if (open.length === MAX_DEPTH)
        throw new QueryRefusal(`the query nests parentheses more than ${MAX_DEPTH} deep`);
      const group: Group = { kind: 'group', nodes: [], start: token.start, end: token.end };
      nodes.push(group);
      open.push(group);
    } else if (isSymbol(token, ')')) {
      const group = open.pop();
      if (group === undefined) throw new QueryRefusal('the query closes a parenthesis that it does not open');
      group.end = token.end;
    } else nodes.push(token);
  }
  if (open.length > 0) throw new QueryRefusal('the query opens a parenthesis that it does not close');
  return top;
}

export function isGroup(node: Node | undefined): node is Group {
  return node?.kind === 'group';
}

export function isSymbol(node: Node | undefined, value: string): boolean {
  return node?.kind === 'symbol' && node.value === value;
}

/** Whether a node is one of these keywords. A quoted name is no keyword. */
export function isWord(node: Node | undefined, ...words: string[]): boolean {
  return node?.kind === 'word' && words.includes(node.value);
}

/** The name that a node may be, in lower case; undefined for anything else. */
export function nameOf(node: Node | undefined): string | undefined {
  return node?.kind === 'word' || node?.kind === 'name' ? node.value : undefined;
}

/** The same where SQLite expects a name and takes a text in single quotes for one. */
export function nameOrTextOf(node: Node | undefined): string | undefined {
  return node?.kind === 'string' ? asciiLower(node.value) : nameOf(node);
}

/** Whether a group is a query in parentheses. */
export function isQuery({ nodes }: Group): boolean {
  return isWord(nodes[0], 'select', 'with', 'values');
}

/** Splits nodes at commas. */
export function splitAtCommas(nodes: readonly Node[]): Node[][] {
  const parts: Node[][] = [[]];
  for (const node of nodes) {
    if (isSymbol(node, ',')) parts.push([]);
    else parts.at(-1)!.push(node);
  }
  return parts;
}
