/**
 * Runs queries on an index. A query runs on a database in memory that has nothing but the tables of this folder, so no
 * statement can reach the file; the tables read it over a connection of their own, which is read-only.
 */
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { damageOf, openIndexForReading } from '../store/index-file.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { openMemory } from '../store/open-database.ts';
import { DamageError } from '../store/storage-error.ts';
import { defineFunctions } from './functions.ts';
import { nameHint, withHint } from './hints/query-hints.ts';
import { type RewrittenQuery, rewriteQuery } from './plan/rewrite.ts';
import { QueryRefusal } from './query-refusal.ts';
import { scanNotes, type TablePlan } from './scan-notes.ts';
import { type Arguments, argumentsOf } from './tables/arguments.ts';
import { foldRows } from './tables/fold.ts';
import { type IndexReads, prepareIndexReads } from './tables/index-reads.ts';
import { type Cell, fillRow } from './tables/rows.ts';
import { READS, readsOf, type TableShape, type TableUse } from './tables/shape.ts';
import type { ReadRows } from './tables/table.ts';
import { columnNames, SHAPES, TABLES } from './tables/tables.ts';
import { type Statement as ParsedStatement, readStatement } from './text/statement.ts';

export type Value = string | number | null;

export interface QueryLimits {
  /** Most rows of an answer. */
  rows: number;
  /** Most bytes of an answer, as text. */
  bytes: number;
}

/** What is known of a query before it runs. */
export type QueryPlan = Pick<QueryAnswer, 'plan' | 'notes'>;

export interface QueryAnswer {
  columns: string[];
  rows: Value[][];
  /** Why rows are missing at the end, null where none are. */
  cut: 'rows' | 'bytes' | null;
  /** The commit that it was read from. */
  head: { number: number; hash: string; timestamp: number };
  startBlock: number;
  /** Blocks of which transfers are missing. */
  gaps: number;
  /** Damage that a repair found but could not fix. */
  damage: string | null;
  plan: TablePlan[];
  /** What the author should know: whole tables that it reads, and what is certainly not meant. */
  notes: string[];
}

/** The driver binds a number as a floating-point one, a bigint as a whole one. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>;

/** A query on a database of its own, ready to run. */
interface KeptStatement {
  memory: Db;
  statement: Statement<[Parameters], unknown[]>;
  columns: string[];
  parsed: ParsedStatement;
  rewritten: RewrittenQuery;
  /** What it was rewritten for. */
  timesAscend: boolean;
}

/** Queries that stay prepared, each some 100 kB, and the longest of them: what is parsed takes many times its text. */
const MOST_PREPARED = 8;
const KEPT_CHARACTERS = 10_000;

export class SqlSession {
  private readonly index: Db;
  private readonly reads: IndexReads;
  private readonly gaps: Statement<[], number>;
  private readonly readers = new Map<string, ReadRows>();
  /** By the text of the query, the newest last. */
  private readonly prepared = new Map<string, KeptStatement>();
  private readonly tradeLists: ConfiguredTradeLists;
  private readonly shapes: readonly TableShape[];

  /** Throws FatalError when the file is no usable index. Tests give shapes without indexes, to compare answers. */
  constructor(path: string, tradeLists: ConfiguredTradeLists = {}, shapes: readonly TableShape[] = SHAPES) {
    this.shapes = shapes;
    this.tradeLists = tradeLists;
    this.index = openIndexForReading(path, { cacheMb: 64 });
    this.reads = prepareIndexReads(this.index);
    this.gaps = this.index
      .prepare<[], number>('SELECT ifnull(sum(last - first + 1), 0) FROM block_gaps')
      .pluck();
  }

  /** `onPlan` learns before the query runs how it reads the tables. Throws QueryRefusal. */
  run(
    text: string,
    limits: QueryLimits,
    parameters: Parameters = {},
    onPlan: (plan: QueryPlan) => void = () => undefined,
  ): QueryAnswer {
    try {
      return this.answer(text, limits, parameters, onPlan);
    } catch (error) {
      this.forget(text); // whatever state it was left in
      throw withHint(error, text);
    }
  }

  private answer(
    text: string,
    limits: QueryLimits,
    parameters: Parameters,
    onPlan: (plan: QueryPlan) => void,
  ): QueryAnswer {
    const parsed = this.prepared.get(text)?.parsed ?? readStatement(text);
    this.index.exec('BEGIN');
    try {
      const end = this.reads.begin();
      const prepared = this.preparedOf(text, parsed);
      const { uses, notes: ofQuery } = prepared.rewritten;
      const plan = uses.map((use) => this.planOf(use));
      const notes = [...scanNotes(plan), ...ofQuery];
      onPlan({ plan, notes });
      const answer = this.execute(prepared, limits, parameters);
      if (text.length > KEPT_CHARACTERS) this.forget(text);
      const { number, hash, timestamp, startBlock } = end;
      const head = { number, hash, timestamp };
      return {
        ...answer,
        head,
        startBlock,
        gaps: this.gaps.get() ?? 0,
        damage: damageOf(this.index),
        plan,
        notes,
      };
    } finally {
      this.index.exec('ROLLBACK');
    }
  }

  close(): void {
    for (const text of [...this.prepared.keys()]) this.forget(text);
    this.index.close();
  }

  private planOf({ table, alias, parameters, isFirstOnly, isBounded }: TableUse): TablePlan {
    const found = TABLES.find(({ shape }) => shape.name === table)!;
    const isScan = !isFirstOnly && !isBounded && readsOf(found.shape, parameters) === READS.scan;
    return {
      table,
      alias,
      by: [...new Set(parameters.map(({ column }) => column))],
      scannedRows: isScan ? found.estimate(this.reads.end(), this.reads) : null,
    };
  }

  /** Named queries, and those that a page repeats, are asked again: to prepare one takes longer than its rows. */
  private preparedOf(text: string, parsed: ParsedStatement): KeptStatement {
    const timesAscend = this.reads.timesAscend();
    const known = this.prepared.get(text);
    if (known?.timesAscend === timesAscend) return known;
    const rewritten = rewriteQuery(parsed, this.shapes, { timesAscend });
    const memory = openMemory();
    try {
      const prepared = { ...this.prepare(memory, rewritten), memory, parsed, rewritten, timesAscend };
      this.keep(text, prepared);
      return prepared;
    } catch (error) {
      memory.close();
      throw refusalOf(error, rewritten);
    }
  }

  private prepare(
    memory: Db,
    { sql, uses, restore }: RewrittenQuery,
  ): Pick<KeptStatement, 'columns' | 'statement'> {
    defineFunctions(memory);
    for (const use of uses) this.defineTable(memory, use);
    memory.pragma('query_only = 1');
    const statement = memory.prepare<[Parameters], unknown[]>(sql);
    if (!statement.reader || !statement.readonly) throw new QueryRefusal('only statements that read are run');
    const columns = statement.columns().map(({ name }) => restore(name));
    return { columns, statement: statement.raw().safeIntegers() };
  }

  private keep(text: string, prepared: KeptStatement): void {
    this.forget(text);
    const [oldest] = this.prepared.keys();
    if (oldest !== undefined && this.prepared.size >= MOST_PREPARED) this.forget(oldest);
    this.prepared.set(text, prepared);
  }

  private forget(text: string): void {
    this.prepared.get(text)?.memory.close();
    this.prepared.delete(text);
  }

  private execute(
    { statement, columns, rewritten }: KeptStatement,
    { rows: mostRows, bytes: mostBytes }: QueryLimits,
    parameters: Parameters,
  ): Pick<QueryAnswer, 'columns' | 'rows' | 'cut'> {
    try {
      const rows: Value[][] = [];
      let bytes = 0;
      for (const row of statement.iterate(parameters)) {
        if (rows.length >= mostRows) return { columns, rows, cut: 'rows' };
        for (const value of row) bytes += bytesOf(value);
        if (bytes > mostBytes) return { columns, rows, cut: 'bytes' };
        rows.push(row.map(resultOf));
      }
      return { columns, rows, cut: null };
    } catch (error) {
      throw refusalOf(error, rewritten);
    }
  }

  /** Prepared at its first use: all of them take longer than most queries. */
  private readerOf(table: string): ReadRows {
    const known = this.readers.get(table);
    if (known !== undefined) return known;
    const reader = TABLES.find(({ shape }) => shape.name === table)!.prepare(this.reads, this.tradeLists);
    this.readers.set(table, reader);
    return reader;
  }

  private defineTable(memory: Db, use: TableUse): void {
    const { name, table, parameters, isFirstOnly, isFolded } = use;
    const readRows = this.readerOf(table);
    const shape = SHAPES.find((found) => found.name === table)!;
    const portionsFor = (args: Arguments) => readRows(args, use);
    memory.table(name, {
      columns: columnNames(use),
      parameters: parameters.map((_, i) => `#${i}`),
      directOnly: false,
      *rows(...values: unknown[]) {
        const args = argumentsOf(parameters, values);
        if (isFolded) return yield* foldRows(portionsFor(args), shape.columns, args);
        const row = new Array<Cell>(shape.columns.length).fill(null);
        for (const portion of portionsFor(args))
          for (let i = 0; i < portion.count; i++) {
            fillRow(portion, i, row);
            yield row;
            if (isFirstOnly) return;
          }
      },
    });
  }
}

/** About how many bytes a value takes in an answer. Checked before it becomes text: a blob may be too long for one. */
function bytesOf(value: unknown): number {
  if (value instanceof Uint8Array) return 2 * value.length + 5;
  return typeof value === 'string' ? value.length + 3 : 8;
}

/** As the answers have it: blobs, integers beyond 2^53 and infinite numbers, which JSON has not, as text. */
function resultOf(value: unknown): Value {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' ? value : null;
}

/** Codes of SQLite for what a query asks of it. The index is only read, so the last two are about texts and sorting. */
const FAULTS_OF_QUERIES = [
  'SQLITE_ERROR',
  'SQLITE_TOOBIG',
  'SQLITE_RANGE',
  'SQLITE_MISMATCH',
  'SQLITE_NOMEM',
  'SQLITE_FULL',
];

/** A mistake in the query as a QueryRefusal; anything else as it is. */
export function refusalOf(error: unknown, { restore, uses }: RewrittenQuery): unknown {
  if (!(error instanceof Error) || error instanceof QueryRefusal || error instanceof DamageError)
    return error;
  const isOfQuery = 'code' in error && FAULTS_OF_QUERIES.includes(String(error.code));
  const isOfDriver = error instanceof TypeError || error instanceof RangeError;
  if (!isOfQuery && !isOfDriver) return error;
  const message = restore(error.message);
  return new QueryRefusal(message, nameHint(message, uses));
}
