/** What to write instead, for a query of somebody who does not know the tables yet, or knows another database. */
import { FUNCTIONS } from '../functions.ts';
import { QueryRefusal } from '../query-refusal.ts';
import type { TableUse } from '../tables/shape.ts';
import { SHAPES } from '../tables/tables.ts';
import { tokensOf } from '../text/tokens.ts';
import { closestName } from './closest-name.ts';
import { DIALECTS } from './dialects.ts';

/** Tables whose columns are listed. */
const MAX_TABLES = 3;
const MAX_CHARACTERS = 600;
/** How much of a query is searched for words of other databases. */
const SEARCHED_CHARACTERS = 20_000;

const OTHER_FUNCTIONS =
  'besides those of SQLite there are the functions that .functions lists at the prompt, and docs/sql.md';

/** A refusal with the words of other databases explained; any other error as it is. */
export function withHint(error: unknown, query: string): unknown {
  if (!(error instanceof QueryRefusal)) return error;
  const hint = dialectHint(error.reason, query);
  return hint === undefined || hint === error.hint ? error : new QueryRefusal(error.reason, hint);
}

function dialectHint(message: string, query: string): string | undefined {
  const fits = DIALECTS.filter((hint) => hint.message.test(message));
  if (fits.length === 0) return undefined;
  const words = wordsOf(query.slice(0, SEARCHED_CHARACTERS));
  return fits.find((hint) => hint.query?.test(words) ?? true)?.hint;
}

/** In lower case, with one space between tokens and texts empty; as written where it has no tokens. */
function wordsOf(query: string): string {
  try {
    return tokensOf(query)
      .map(({ kind, value }) => (kind === 'string' ? "''" : value))
      .join(' ');
  } catch {
    return query.trim().toLowerCase();
  }
}

/** For a message of SQLite about a name; empty where there is nothing to add to it. */
export function nameHint(message: string, uses: readonly TableUse[]): string {
  const [, column] =
    /^no such column: (.+?)(?: - should this be a string literal in single-quotes\?)?$/s.exec(message) ?? [];
  if (column !== undefined) return columnsHint(column, uses);
  const [, name] = /^no such function: (.+)$/s.exec(message) ?? [];
  if (name === undefined) return '';
  const meant = closestName(
    name,
    FUNCTIONS.map((one) => one.name),
  );
  return meant === undefined ? OTHER_FUNCTIONS : `did you mean ${meant}()?`;
}

/** The columns that may be meant by `column`, which may have an alias before it. */
function columnsHint(column: string, uses: readonly TableUse[]): string {
  const alias = /^(.*)\./s.exec(column)?.[1]?.toLowerCase();
  const name = column.slice(column.lastIndexOf('.') + 1);
  const meant = uses.filter((use) => alias === undefined || use.alias === alias);
  const hidden = uses.find(({ table }) => table === alias);
  if (meant.length === 0 && hidden !== undefined)
    return `the query names ${hidden.table} ${hidden.alias}: write ${hidden.alias}.${name}`;
  const tables = [...new Set(meant.map(({ table }) => table))];
  if (tables.length === 0) return '';
  const lists = tables.slice(0, MAX_TABLES).map((table) => `${table} has ${columnsOf(table).join(', ')}`);
  const parts = [...suggestion(name, tables), ...lists];
  const hint = parts.join('; ');
  return hint.length > MAX_CHARACTERS ? `${hint.slice(0, MAX_CHARACTERS)} ...` : hint;
}

/** The column that was mistyped, or the tables that have it. */
function suggestion(name: string, tables: readonly string[]): string[] {
  const others = SHAPES.filter(({ columns }) => columns.some((column) => column.name === name.toLowerCase()));
  if (others.length > 0) return [`${name} is a column of ${others.map((shape) => shape.name).join(', ')}`];
  const meant = closestName(name, tables.flatMap(columnsOf));
  return meant === undefined ? [] : [`did you mean ${meant}?`];
}

function columnsOf(table: string): string[] {
  return SHAPES.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];
}
