/** Compares the tables in PostgreSQL with what the sink writes, because their operator may change them. */
import type { Sql } from '../postgres/connection.ts';
import { COLUMNS } from './columns.ts';

interface StoredColumn {
  table: string;
  name: string;
  type: string;
  isRequired: boolean;
  isGenerated: boolean;
}

/** Says which table the sink can no longer write, and what to do; null when all fit. */
export async function shapeProblem(sql: Sql, schema: string): Promise<string | null> {
  const found = await sql<StoredColumn[]>`
    SELECT c.relname AS table, a.attname AS name, a.atttypid::regtype::text AS type,
      a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "isRequired", a.attgenerated <> '' AS "isGenerated"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = quote_ident(${schema})::regnamespace AND c.relname = ANY (${tableArray})
      AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY c.relname, a.attnum`;
  const columns = new Map(found.map((column) => [`${column.table}.${column.name}`, column]));
  for (const [table, own] of Object.entries(COLUMNS)) {
    for (const [name, type] of Object.entries(own)) {
      const problem = columnProblem(columns.get(`${table}.${name}`), type);
      if (problem !== null)
        return (
          `the column ${table}.${name} in the schema "${schema}" ${problem}, or drop the schema to ` +
          'have it written again'
        );
      columns.delete(`${table}.${name}`);
    }
  }
  for (const [name, { isRequired }] of columns) {
    if (isRequired)
      return (
        `the column ${name} in the schema "${schema}", which the sink does not fill, is NOT NULL: give ` +
        'it a default, or drop NOT NULL'
      );
  }
  return null;
}

const tableArray = `{${Object.keys(COLUMNS).join(',')}}`;

/** Types with the same binary format. */
const ALIKE: Record<string, string> = { 'character varying': 'text' };

function columnProblem(column: StoredColumn | undefined, type: string): string | null {
  if (column === undefined) return 'is missing: rename it back';
  if (column.isGenerated) return 'is generated, and the sink writes it: make it a plain column';
  if ((ALIKE[column.type] ?? column.type) !== type) return `is ${column.type}, not ${type}: change it back`;
  return null;
}
