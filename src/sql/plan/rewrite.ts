/**
 * Rewrites a query so that its conditions reach the tables. The driver's virtual tables take values only as arguments,
 * so each place that names a table becomes a table of its own, whose arguments are what the query compares its columns
 * with:
 * `transfers t ... WHERE t.token_address = X` reads `"transfers#1"(X) AS t`. The conditions stay in the query and are
 * checked row by row. So arguments only narrow what is read; where none is found, all rows are.
 */
import { closestName } from '../hints/closest-name.ts';
import { QueryRefusal } from '../query-refusal.ts';
import type { TableShape, TableUse } from '../tables/shape.ts';
import { type FromItem, joinedIn, readFrom } from '../text/from-clause.ts';
import { isGroup, isQuery, isSymbol, type Node, nameOf } from '../text/nodes.ts';
import { type Query, readQuery, type SelectCore } from '../text/select.ts';
import type { Statement } from '../text/statement.ts';
import { type Condition, conditionsOf, type Value } from './conditions.ts';
import { Edits } from './edits.ts';
import { foldOf } from './fold.ts';
import { literalEdits } from './literals.ts';
import { numberEdits } from './numbers.ts';
import { endByLimit, extremeOf, orderOf } from './order.ts';
import { parameterOf, placeTables } from './place.ts';
import type { ScopeItem } from './scope.ts';
import { amountsAsText } from './text-order.ts';
import { namedColumns } from './used-columns.ts';

export interface RewrittenQuery {
  sql: string;
  uses: TableUse[];
  /** A text of SQLite about the rewritten query, such as the name of a column, in the words of the original one. */
  restore(text: string): string;
}

type TableReading = Pick<
  TableUse,
  'isAscending' | 'isFirstOnly' | 'isBounded' | 'firstRows' | 'isFolded' | 'columns' | 'asText'
>;

/** The limit of SQLite, which is told before the joins are planned. */
const MAX_JOINED = 64;

/** Functions in FROM that read nothing of the index. */
const FUNCTIONS = ['json_each', 'json_tree'];

export interface RewriteOptions {
  /** Whether blocks later in the chain never have earlier times. */
  timesAscend: boolean;
}

/** Throws QueryRefusal for a table that does not exist. */
export function rewriteQuery(
  { text, nodes }: Statement,
  shapes: readonly TableShape[],
  options: RewriteOptions,
): RewrittenQuery {
  const rewriting = new Rewriting(text, nodes, shapes, options);
  rewriting.visitQuery(nodes, new Set());
  return rewriting.result();
}

class Rewriting {
  private readonly edits: Edits;
  private readonly uses: TableUse[] = [];
  private readonly shapes: readonly TableShape[];
  private readonly columns: ReadonlySet<string> | null;
  private readonly options: RewriteOptions;

  constructor(text: string, nodes: readonly Node[], shapes: readonly TableShape[], options: RewriteOptions) {
    this.edits = new Edits(text, literalEdits(nodes));
    this.shapes = shapes;
    this.columns = namedColumns(nodes);
    this.options = options;
  }

  result(): RewrittenQuery {
    return { sql: this.edits.text(), uses: this.uses, restore: (text) => this.edits.restore(text) };
  }

  /** Rewrites inner queries first: an outer condition may repeat them as an argument. `hidden`: names of WITH. */
  visitQuery(nodes: readonly Node[], outer: ReadonlySet<string>): void {
    const query = readQuery(nodes);
    const hidden = new Set([...outer, ...query.tables.map(({ name }) => name)]);
    for (const { body } of query.tables) this.visitQuery(body.nodes, hidden);
    this.visitInner(query.body, hidden);
    for (const core of query.cores) this.visitSelect(core, query, hidden);
  }

  private visitInner(nodes: readonly Node[], hidden: ReadonlySet<string>): void {
    for (const node of nodes) {
      if (!isGroup(node)) continue;
      if (isQuery(node)) this.visitQuery(node.nodes, hidden);
      else this.visitInner(node.nodes, hidden);
    }
  }

  private visitSelect(core: SelectCore, query: Query, hidden: ReadonlySet<string>): void {
    if (core.from.length === 0) return;
    const from = readFrom(core.from);
    if (from === null) throw this.refusalOfFrom(core.from);
    if (from.length > MAX_JOINED) throw new QueryRefusal(`a SELECT joins at most ${MAX_JOINED} tables`);
    const shapeOf = (table: string | null) => this.shapeOf(table, hidden);
    for (const item of from) this.visitJoined(item, hidden);
    const items = from.map((item): ScopeItem => ({ alias: item.alias, shape: shapeOf(item.table) }));
    for (const condition of [core.where, ...from.map(({ on }) => on)])
      for (const { start, end, text } of numberEdits(condition, items)) this.edits.replace(start, end, text);
    const conditions = conditionsOf(core, from, items, shapeOf);
    const placed = placeTables(from, items, conditions);
    const order = orderOf(query, core, from, items, placed, this.options);
    if (order !== null) this.edits.remove(order.start, order.end);
    const extreme = extremeOf(core, from, items, this.options);
    const fold = foldOf(query, core, from, items, placed);
    for (const { start, end, text } of fold?.edits ?? []) this.edits.replace(start, end, text);
    const asText = amountsAsText(query, core, items);
    const end = endByLimit(query, core, from, order);
    const reading = {
      columns: fold?.columns ?? this.columns,
      isFolded: fold !== null,
      isAscending: (extreme ?? order)?.isAscending ?? false,
      isFirstOnly: extreme !== null,
      isBounded: end?.isBounded ?? false,
      firstRows: extreme === null ? (end?.rows ?? null) : 1,
    };
    for (const [at, item] of from.entries()) {
      const shape = items[at]?.shape;
      if (shape)
        this.use(item, shape, placed.get(at) ?? [], from, {
          ...reading,
          asText: [...(asText.get(at) ?? [])],
        });
      else this.refuseUnknown(item, hidden);
    }
  }

  /** Tables of joins in parentheses are read whole. */
  private visitJoined(item: FromItem, hidden: ReadonlySet<string>): void {
    for (const joined of joinedIn(item) ?? []) {
      this.visitJoined(joined, hidden);
      const shape = this.shapeOf(joined.table, hidden);
      if (shape) this.use(joined, shape, [], [], this.whole());
      else this.refuseUnknown(joined, hidden);
    }
  }

  private whole(): TableReading {
    const { columns } = this;
    const reading = { isAscending: false, isFirstOnly: false, isBounded: false, firstRows: null, asText: [] };
    return { ...reading, columns, isFolded: false };
  }

  private shapeOf(table: string | null, hidden: ReadonlySet<string>): TableShape | null {
    if (table === null || hidden.has(table)) return null;
    return this.shapes.find(({ name }) => name === table) ?? null;
  }

  private refuseUnknown({ table, source, args }: FromItem, hidden: ReadonlySet<string>): void {
    if (table === null || isGroup(source) || hidden.has(table)) return;
    if (args !== null && FUNCTIONS.includes(table)) return;
    const meant = closestName(
      table,
      this.shapes.map(({ name }) => name),
    );
    throw new QueryRefusal(
      `there is no table "${table}"`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}the tables are ${this.names()}`,
    );
  }

  private refusalOfFrom(from: readonly Node[]): QueryRefusal {
    const hasSchema = nameOf(from[0]) !== undefined && isSymbol(from[1], '.');
    return new QueryRefusal(
      `the FROM clause is not understood: ${this.edits.original(spanOf(from))}`,
      hasSchema ? `tables are named without a schema: ${this.names()}` : '',
    );
  }

  private names(): string {
    return this.shapes.map(({ name }) => name).join(', ');
  }

  private use(
    item: FromItem,
    shape: TableShape,
    conditions: readonly Condition[],
    from: readonly FromItem[],
    reading: TableReading,
  ): void {
    const { source, args, hasAlias } = item;
    if (args !== null) throw new QueryRefusal(`${shape.name} takes no arguments: filter with WHERE`);
    const name = `${shape.name}#${this.uses.length + 1}`;
    this.uses.push({
      name,
      table: shape.name,
      alias: item.alias ?? shape.name,
      parameters: conditions.map(parameterOf),
      ...reading,
    });
    const values = conditions.map(({ value }) => this.textOf(value, from));
    const call = values.length === 0 ? `"${name}"` : `"${name}"(${values.join(', ')})`;
    this.edits.replace(
      source.start,
      source.end,
      hasAlias ? call : `${call} AS ${this.edits.original(source)}`,
    );
  }

  /** A value as an argument. */
  private textOf(value: Value, from: readonly FromItem[]): string {
    const text = (nodes: readonly Node[]) => this.edits.text(nodes[0]?.start ?? 0, nodes.at(-1)?.end ?? 0);
    switch (value.kind) {
      case 'expression':
        return text(value.nodes);
      case 'list':
        return jsonListOf(`VALUES ${value.items.map((item) => `(${text(item)})`).join(', ')}`);
      case 'query':
        return jsonListOf(text(value.nodes));
      case 'column':
        return `"${from[value.item]?.alias?.replaceAll('"', '""')}"."${value.column.replaceAll('"', '""')}"`;
    }
  }
}

/** The results of a query as a JSON list, which has no blobs: no column of a table equals one. */
function jsonListOf(query: string): string {
  return `(WITH "#v"("v") AS (${query}) SELECT json_group_array("v") FROM "#v" WHERE typeof("v") <> 'blob')`;
}

/** Where nodes begin and end, at most 80 characters. */
function spanOf(nodes: readonly Node[]): { start: number; end: number } {
  const start = nodes[0]?.start ?? 0;
  return { start, end: Math.min(nodes.at(-1)?.end ?? 0, start + 80) };
}
