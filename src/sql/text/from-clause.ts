/** The tables and joins of a FROM clause. */
import {
  type Group,
  isGroup,
  isQuery,
  isSymbol,
  isWord,
  type Node,
  nameOf,
  nameOrTextOf,
  splitAtCommas,
} from './nodes.ts';

export interface FromItem {
  /** Lower-case name of the table; null for a query or joins in parentheses. */
  table: string | null;
  /** By which its columns are qualified, in lower case; null for a query without a name. */
  alias: string | null;
  hasAlias: boolean;
  /** The table's name, or what stands in parentheses. */
  source: Node;
  /** Arguments of a table-valued function. */
  args: Group | null;
  join: Join;
  on: Node[];
  /** Lower-case names of the columns in USING. */
  using: string[];
}

export type Join = 'inner' | 'cross' | 'left' | 'other';

const JOIN_WORDS = ['natural', 'left', 'right', 'full', 'outer', 'inner', 'cross', 'join'];
const AFTER_NAME = [...JOIN_WORDS, 'on', 'using', 'indexed', 'not'];

/** Null for a clause that is not understood; SQLite reports it if it is not valid. */
export function readFrom(nodes: readonly Node[]): FromItem[] | null {
  const items: FromItem[] = [];
  let at = 0;
  let join: Join = 'inner';
  while (at < nodes.length) {
    const read = readItem(nodes, at, join);
    if (read === null) return null;
    items.push(read.item);
    at = read.at;
    if (at === nodes.length) break;
    const next = readJoin(nodes, at);
    if (next === null) return null;
    ({ join, at } = next);
  }
  return items;
}

function readItem(nodes: readonly Node[], start: number, join: Join): { item: FromItem; at: number } | null {
  let at = start;
  const source = nodes[at++];
  if (source === undefined) return null;
  const table = nameOrTextOf(source) ?? null;
  if (table === null && !isGroup(source)) return null;
  let args: Group | null = null;
  const after = nodes[at];
  if (table !== null && isGroup(after)) {
    args = after;
    at++;
  }
  let alias = table;
  let hasAlias = false;
  if (isWord(nodes[at], 'as')) at++;
  const named = nodes[at];
  const name = isWord(named, ...AFTER_NAME) ? undefined : nameOrTextOf(named);
  if (name !== undefined) {
    alias = name;
    hasAlias = true;
    at++;
  }
  const item: FromItem = { table, alias, hasAlias, source, args, join, on: [], using: [] };
  if (isWord(nodes[at], 'on')) {
    const end = endOfOn(nodes, at + 1);
    item.on = nodes.slice(at + 1, end);
    at = end;
  } else if (isWord(nodes[at], 'using')) {
    const columns = nodes[at + 1];
    if (!isGroup(columns)) return null;
    item.using = splitAtCommas(columns.nodes).flatMap(([column]) => nameOf(column) ?? []);
    at += 2;
  }
  return { item, at };
}

function endOfOn(nodes: readonly Node[], start: number): number {
  const end = nodes.findIndex(
    (node, i) =>
      i >= start && (isSymbol(node, ',') || (isWord(node, ...JOIN_WORDS) && !isGroup(nodes[i + 1]))),
  );
  return end < 0 ? nodes.length : end;
}

function readJoin(nodes: readonly Node[], start: number): { join: Join; at: number } | null {
  if (isSymbol(nodes[start], ',')) return { join: 'inner', at: start + 1 };
  const words: string[] = [];
  let at = start;
  while (isWord(nodes[at], ...JOIN_WORDS)) {
    const word = nameOf(nodes[at++])!;
    words.push(word);
    if (word === 'join') return { join: joinOf(words), at };
  }
  return null;
}

function joinOf(words: readonly string[]): Join {
  if (words.includes('right') || words.includes('full') || words.includes('natural')) return 'other';
  if (words.includes('left')) return 'left';
  return words.includes('cross') ? 'cross' : 'inner';
}

/** The tables of joins in parentheses; null for a query. */
export function joinedIn(item: FromItem): FromItem[] | null {
  return isGroup(item.source) && !isQuery(item.source) ? readFrom(item.source.nodes) : null;
}
