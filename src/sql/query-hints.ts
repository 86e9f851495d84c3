/** What to write instead, for a query of somebody who does not know the tables yet, or knows another database. */
import type { TableUse } from './tables/shape.ts';
import { SHAPES } from './tables/tables.ts';

/** Tables whose columns are listed. */
const MAX_TABLES = 3;
const MAX_CHARACTERS = 600;

/** A message of SQLite, or a part of it, and what it means where the query has `query`. The first that fits is told. */
const HINTS: readonly { message: RegExp; query?: RegExp; hint: string }[] = [
  {
    message: /^no such function: date_trunc$/i,
    hint: "date(x) is the day of a time, strftime('%Y-%m', x) its month",
  },
  {
    message: /^no such function: (?:now|getdate|curdate|to_timestamp|dateadd|date_sub|date_add)$/i,
    hint: "datetime('now') is the time now, datetime(x, '-7 days') seven days before x",
  },
  {
    message: /^no such function: (?:to_char|date_format|formatdatetime|date_part|year|month|day)$/i,
    hint: "strftime('%Y-%m-%d', x) writes a time, strftime('%Y', x) its year",
  },
  {
    message: /^no such function: /i,
    hint: 'besides those of SQLite there are the functions that .functions lists at the prompt, and docs/sql.md',
  },
  {
    message: /^integer overflow$/,
    hint: 'sum_amount(x) adds amounts exactly, and sum() of a column like amount_real nearly',
  },
  {
    message: /^unrecognized token: ":"/,
    query: /::/,
    hint: 'a cast is written CAST(x AS REAL), not x::real',
  },
  {
    message: /syntax error$/,
    query: /\binterval\b/i,
    hint: "datetime(x, '-7 days') is seven days before x",
  },
  {
    message: /syntax error$/,
    query: /\bilike\b/i,
    hint: 'LIKE takes small and capital letters as equal',
  },
  {
    message: /syntax error$/,
    query: /\bextract\s*\(/i,
    hint: "strftime('%Y', x) is the year of a time",
  },
];

/** Empty where there is nothing to add to the message. */
export function hintFor(message: string, query: string, uses: readonly TableUse[]): string {
  const [, column] =
    /^no such column: (.+?)(?: - should this be a string literal in single-quotes\?)?$/s.exec(message) ?? [];
  if (column !== undefined) return columnsHint(column, uses);
  return HINTS.find((hint) => hint.message.test(message) && (hint.query?.test(query) ?? true))?.hint ?? '';
}

/** The columns that may be meant by `column`, which may have an alias before it. */
function columnsHint(column: string, uses: readonly TableUse[]): string {
  const alias = /^(.*)\./s.exec(column)?.[1]?.toLowerCase();
  const meant = uses.filter((use) => alias === undefined || use.alias === alias);
  const hidden = uses.find(({ table }) => table === alias);
  if (meant.length === 0 && hidden !== undefined)
    return (
      `the query names ${hidden.table} ${hidden.alias}: ` +
      `write ${hidden.alias}.${column.slice(column.lastIndexOf('.') + 1)}`
    );
  const tables = [...new Set(meant.map(({ table }) => table))];
  const lists = tables.slice(0, MAX_TABLES).map((table) => `${table} has ${columnsOf(table).join(', ')}`);
  const hint = lists.join('; ');
  return hint.length > MAX_CHARACTERS ? `${hint.slice(0, MAX_CHARACTERS)} ...` : hint;
}

function columnsOf(table: string): string[] {
  return SHAPES.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];
}
