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
import { type Group, isGroup, isQuery, isSymbol, type Node, nameOf, splitAtCommas } from '../text/nodes.ts';
import { type Query, readQuery, type SelectCore } from '../text/select.ts';
import type { Statement } from '../text/statement.ts';
import { type Condition, conditionsOf, type Value } from './conditions.ts';
import { Edits } from './edits.ts';
import { foldOf } from './fold.ts';
import { literalEdits } from './literals.ts';
import { numberEdits } from './numbers.ts';
import { endByLimit, extremeOf, orderOf } from './order.ts';
import { outputsOf } from './outputs.ts';
import { parameterOf, placeTables } from './place.ts';
import { QueryNotes } from './query-notes.ts';
import type { Output, ScopeItem } from './scope.ts';
import { namedColumns } from './used-columns.ts';

export interface RewrittenQuery {
  sql: string;
  uses: TableUse[];
  /** What its author certainly does not mean, although it runs. */
  notes: string[];
  /** A text of SQLite about the rewritten query, such as the name of a column, in the words of the original one. */
  restore(text: string): string;
}

type TableReading = Pick<
  TableUse,
  'isAscending' | 'isFirstOnly' | 'isBounded' | 'firstRows' | 'isFolded' | 'columns'
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
  rewriting.visitQuery(nodes, new Map());
  return rewriting.result();
}

/** Names of WITH, which hide those of tables, and their results where these are known. */
type Hidden = ReadonlyMap<string, readonly Output[] | null>;

class Rewriting {
  private readonly edits: Edits;
  private readonly notes = new QueryNotes();
  /** The results of queries, by their nodes. */
  private readonly outputs = new Map<readonly Node[], readonly Output[] | null>();
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
    const { edits, uses } = this;
    return { sql: edits.text(), uses, notes: this.notes.lines(), restore: (text) => edits.restore(text) };
  }

  /** Rewrites inner queries first: an outer condition may repeat them as an argument. */
  visitQuery(nodes: readonly Node[], outer: Hidden): void {
    const query = readQuery(nodes);
    const hidden = new Map([...outer, ...query.tables.map(({ name }) => [name, null] as const)]);
    for (const { name, columns, body } of query.tables) {
      this.visitQuery(body.nodes, hidden);
      hidden.set(name, renamed(this.outputs.get(body.nodes) ?? null, columns));
    }
    this.visitInner(query.body, hidden);
    for (const core of query.cores) {
      const outputs = this.visitSelect(core, query, hidden);
      if (core === query.cores[0]) this.outputs.set(nodes, outputs);
    }
  }

  private visitInner(nodes: readonly Node[], hidden: Hidden): void {
    for (const node of nodes) {
      if (!isGroup(node)) continue;
      if (isQuery(node)) this.visitQuery(node.nodes, hidden);
      else this.visitInner(node.nodes, hidden);
    }
  }

  /** Returns its results where they are known. */
  private visitSelect(core: SelectCore, query: Query, hidden: Hidden): Output[] | null {
    if (core.from.length === 0) return null;
    const from = readFrom(core.from);
    if (from === null) throw this.refusalOfFrom(core.from);
    if (from.length > MAX_JOINED) throw new QueryRefusal(`a SELECT joins at most ${MAX_JOINED} tables`);
    const shapeOf = (table: string | null) => this.shapeOf(table, hidden);
    for (const item of from) this.visitJoined(item, hidden);
    const items = from.map(
      (item): ScopeItem => ({
        alias: item.alias,
        shape: shapeOf(item.table),
        outputs: this.outputsOf(item, hidden),
      }),
    );
    const conditionTexts = [core.where, ...from.map(({ on }) => on)];
    this.notes.read(query, core, conditionTexts, items);
    for (const condition of conditionTexts)
      for (const { start, end, text } of numberEdits(condition, items)) this.edits.replace(start, end, text);
    const conditions = conditionsOf(core, from, items, shapeOf);
    const placed = placeTables(from, items, conditions);
    const order = orderOf(query, core, from, items, placed, this.options);
    if (order !== null) this.edits.remove(order.start, order.end);
    const extreme = extremeOf(core, from, items, this.options);
    const fold = foldOf(query, core, from, items, placed);
    for (const { start, end, text } of fold?.edits ?? []) this.edits.replace(start, end, text);
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
      if (shape) this.use(item, shape, placed.get(at) ?? [], from, reading);
      else this.refuseUnknown(item, hidden);
    }
    return outputsOf(core, items);
  }

  private outputsOf({ source, table }: FromItem, hidden: Hidden): readonly Output[] | null {
    const outputs = isGroup(source) ? this.outputs.get(source.nodes) : hidden.get(table ?? '');
    return outputs ?? null;
  }

  /** Tables of joins in parentheses are read whole. */
  private visitJoined(item: FromItem, hidden: Hidden): void {
    for (const joined of joinedIn(item) ?? []) {
      this.visitJoined(joined, hidden);
      const shape = this.shapeOf(joined.table, hidden);
      if (shape) this.use(joined, shape, [], [], this.whole());
      else this.refuseUnknown(joined, hidden);
    }
  }

  private whole(): TableReading {
    const { columns } = this;
    const reading = { isAscending: false, isFirstOnly: false, isBounded: false, firstRows: null };
    return { ...reading, columns, isFolded: false };
  }

  private shapeOf(table: string | null, hidden: Hidden): TableShape | null {
    if (table === null || hidden.has(table)) return null;
    return this.shapes.find(({ name }) => name === table) ?? null;
  }

  private refuseUnknown({ table, source, args }: FromItem, hidden: Hidden): void {
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

/** The results under the names that WITH gives them. */
function renamed(outputs: readonly Output[] | null, columns: Group | null): readonly Output[] | null {
  if (outputs === null || columns === null) return outputs;
  return splitAtCommas(columns.nodes).map(([column], at) => ({
    name: nameOf(column) ?? '',
    origin: outputs[at]?.origin ?? null,
  }));
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
