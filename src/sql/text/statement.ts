/** Which statements are run: those that only read, of the tables that are offered. */
import { QueryRefusal } from '../query-refusal.ts';
import { isSymbol, isWord, type Node, nameOf, nodesOf } from './nodes.ts';
import { readQuery } from './select.ts';
import { type Token, tokensOf } from './tokens.ts';

const STARTS = ['select', 'with', 'values'];

/** What reads the file, the disk or SQLite's own tables. */
const RESERVED = [
  /^(?:pragma_|sqlite_|fts[0-9]|rtree|geopoly)/,
  /^(?:dbstat|bytecode|tables_used|load_extension|readfile|writefile|edit)$/,
];

/** A statement that may be run. */
export interface Statement {
  /** Without the semicolon at its end. */
  text: string;
  /** The nodes of its query, without EXPLAIN. */
  nodes: Node[];
  isExplained: boolean;
}

/** Throws QueryRefusal for any statement that is not a single query. */
export function readStatement(text: string): Statement {
  const tokens = tokensOf(text);
  const end = endOf(tokens);
  const nodes = nodesOf(tokens.slice(0, end));
  const first = nodes[0];
  if (first === undefined) throw new QueryRefusal('the query is empty');
  const isExplained = isWord(first, 'explain');
  const skipped = isExplained ? (isWord(nodes[1], 'query') && isWord(nodes[2], 'plan') ? 3 : 1) : 0;
  if (
    !isWord(nodes[skipped], ...STARTS) ||
    !isWord(readQuery(nodes.slice(skipped)).body[0], 'select', 'values')
  )
    throw new QueryRefusal(
      'only queries are run: a statement begins with SELECT, WITH or VALUES, or with EXPLAIN and one of these',
    );
  for (const [i, token] of tokens.slice(0, end).entries()) {
    refuseReserved(token, tokens[i + 1]);
    if (isWord(token, 'in') && !isSymbol(tokens[i + 1], '('))
      throw new QueryRefusal('IN takes a list or a query in parentheses');
  }
  return { text: text.slice(0, tokens[end - 1]?.end), nodes: nodes.slice(skipped), isExplained };
}

/** Where the one statement ends; only semicolons may follow. */
function endOf(tokens: readonly Token[]): number {
  const end = tokens.findIndex((token) => isSymbol(token, ';'));
  if (end < 0) return tokens.length;
  if (tokens.slice(end).some((token) => !isSymbol(token, ';')))
    throw new QueryRefusal('one statement at a time: remove what follows the semicolon');
  return end;
}

function refuseReserved(token: Token, next: Token | undefined): void {
  const name = nameOf(token);
  if (name === undefined) return;
  if (RESERVED.some((form) => form.test(name)))
    throw new QueryRefusal(`"${name}" is not available in queries`);
  if ((name === 'main' || name === 'temp') && isSymbol(next, '.'))
    throw new QueryRefusal(`name tables without "${name}."`);
}
