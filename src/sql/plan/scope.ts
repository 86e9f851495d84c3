/** Which names of an expression can be columns of the tables of a FROM clause. */

import type { TableShape } from '../tables/shape.ts';
import { readFrom } from '../text/from-clause.ts';
import { isGroup, isQuery, isSymbol, type Node, nameOf } from '../text/nodes.ts';
import { readQuery } from '../text/select.ts';

/** A column of a table. */
export interface Origin {
  shape: TableShape;
  column: string;
}

/** A result: its name in lower case, and the column that it is; null for any other expression. */
export interface Output {
  name: string;
  origin: Origin | null;
}

/** An item of a FROM clause. */
export interface ScopeItem {
  alias: string | null;
  /** Null for a query, a common table expression or a function, whose columns are not known here. */
  shape: TableShape | null;
  /** The results of such a query where they are known. */
  outputs: readonly Output[] | null;
}

export type FindShape = (table: string | null) => TableShape | null;

export function hasColumn({ shape }: ScopeItem, column: string): boolean {
  return shape?.columns.some(({ name }) => name === column) ?? false;
}

/** The items that an expression may refer to, too many rather than too few. */
export function itemsIn(
  expression: readonly Node[],
  items: readonly ScopeItem[],
  shapeOf: FindShape,
): Set<number> {
  const found = new Set<number>();
  collect(expression, items, shapeOf, new Set(), new Set(), found);
  return found;
}

/** `innerColumns` and `innerAliases` are those of queries within the expression, which hide the outer ones. */
function collect(
  nodes: readonly Node[],
  items: readonly ScopeItem[],
  shapeOf: FindShape,
  innerColumns: ReadonlySet<string>,
  innerAliases: ReadonlySet<string>,
  found: Set<number>,
): void {
  for (const [i, node] of nodes.entries()) {
    if (isGroup(node)) {
      const inner = isQuery(node) ? namesIn(node.nodes, shapeOf) : { columns: [], aliases: [] };
      const columns = new Set([...innerColumns, ...inner.columns]);
      const aliases = new Set([...innerAliases, ...inner.aliases]);
      collect(node.nodes, items, shapeOf, columns, aliases, found);
      continue;
    }
    const name = nameOf(node);
    if (name === undefined || isGroup(nodes[i + 1]) || isSymbol(nodes[i - 1], '.')) continue;
    const isQualifier = isSymbol(nodes[i + 1], '.');
    if (isQualifier ? innerAliases.has(name) : innerColumns.has(name)) continue;
    for (const [at, item] of items.entries())
      if (isQualifier ? item.alias === name : hasColumn(item, name) || item.shape === null) found.add(at);
  }
}

function namesIn(query: readonly Node[], shapeOf: FindShape): { columns: string[]; aliases: string[] } {
  const items = readQuery(query).cores.flatMap(({ from }) => readFrom(from) ?? []);
  return {
    columns: items.flatMap(({ table }) => shapeOf(table)?.columns.map(({ name }) => name) ?? []),
    aliases: items.flatMap(({ alias }) => alias ?? []),
  };
}
