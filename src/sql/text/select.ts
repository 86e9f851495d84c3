/** The clauses of a query: its common table expressions, and its SELECTs with their parts. */
import { type Group, isGroup, isSymbol, isWord, type Node, nameOf } from './nodes.ts';

/** One SELECT of a query. */
export interface SelectCore {
  /** Between SELECT and FROM. */
  results: Node[];
  from: Node[];
  where: Node[];
  /** The keyword WHERE was there. */
  hasGroups: boolean;
  isDistinct: boolean;
  /** All of the above and what follows, up to the next SELECT. */
  nodes: Node[];
}

export interface Query {
  /** Lower-case names and bodies of the WITH clause, and the columns that it names. */
  tables: { name: string; columns: Group | null; body: Group }[];
  cores: SelectCore[];
  /** Terms of ORDER BY at the end, null without one, and where the clause begins and ends. */
  order: { terms: Node[]; start: number; end: number } | null;
  /** What follows LIMIT, null without it. */
  limit: Node[] | null;
  /** Everything after the WITH clause. */
  body: Node[];
}

/** Reads a query that begins with WITH, SELECT or VALUES. What is no valid SQL is left for SQLite to report. */
export function readQuery(nodes: readonly Node[]): Query {
  const { tables, at: start } = readWith(nodes);
  const body = nodes.slice(start);
  const { select, order } = splitOrder(body);
  const at = body.findIndex((node) => isWord(node, 'limit'));
  const limit = at < 0 ? null : body.slice(at + 1);
  return { tables, cores: splitCompound(select).map(readCore), order, limit, body };
}

function readWith(nodes: readonly Node[]): { tables: Query['tables']; at: number } {
  const tables: Query['tables'] = [];
  if (!isWord(nodes[0], 'with')) return { tables, at: 0 };
  let at = isWord(nodes[1], 'recursive') ? 2 : 1;
  for (;;) {
    const name = nameOf(nodes[at++]);
    const named = nodes[at];
    const columns = isGroup(named) ? named : null;
    if (columns !== null) at++;
    while (isWord(nodes[at], 'as', 'not', 'materialized')) at++;
    const body = nodes[at++];
    if (name === undefined || !isGroup(body)) return { tables, at: Math.min(at, nodes.length) };
    tables.push({ name, columns, body });
    if (!isSymbol(nodes[at], ',')) return { tables, at };
    at++;
  }
}

function splitOrder(body: readonly Node[]): { select: readonly Node[]; order: Query['order'] } {
  const at = body.findIndex((node, i) => isWord(node, 'order') && isWord(body[i + 1], 'by'));
  const limit = body.findIndex((node, i) => isWord(node, 'limit') && i > at);
  if (at < 0) return { select: limit < 0 ? body : body.slice(0, limit), order: null };
  const terms = body.slice(at + 2, limit < 0 ? undefined : limit);
  const end = terms.at(-1)?.end;
  const start = body[at]!.start;
  return { select: body.slice(0, at), order: end === undefined ? null : { terms, start, end } };
}

function splitCompound(nodes: readonly Node[]): Node[][] {
  const cores: Node[][] = [[]];
  for (const [i, node] of nodes.entries()) {
    if (isWord(node, 'union', 'intersect', 'except')) cores.push([]);
    else if (!(isWord(node, 'all') && isWord(nodes[i - 1], 'union'))) cores.at(-1)!.push(node);
  }
  return cores;
}

function readCore(nodes: Node[]): SelectCore {
  const core: SelectCore = { results: [], from: [], where: [], hasGroups: false, isDistinct: false, nodes };
  if (!isWord(nodes[0], 'select')) return core; // VALUES
  let part: Node[] | null = core.results;
  for (let i = 1; i < nodes.length; i++) {
    const node = nodes[i]!;
    if (i === 1 && isWord(node, 'distinct', 'all')) core.isDistinct = isWord(node, 'distinct');
    else if (isWord(node, 'from') && !isWord(nodes[i - 1], 'distinct')) part = core.from;
    else if (isWord(node, 'where')) part = core.where;
    else if (isWord(node, 'group') && isWord(nodes[i + 1], 'by')) {
      core.hasGroups = true;
      part = null;
    } else if (isWord(node, 'having')) {
      core.hasGroups = true;
      part = null;
    } else if (isWord(node, 'window') && isWord(nodes[i + 2], 'as')) part = null;
    else part?.push(node);
  }
  return core;
}
