/** SQL on the index, for the operator alone. */
import * as z from 'zod';
import { RequestError } from '../../lib/errors.ts';

/** The operations of the panel on SQL. */
export interface AdminSql {
  /** The tables and functions, and how many queries run and wait. */
  describe(): {
    tables: { name: string; description: string; columns: { name: string; type: string }[] }[];
    functions: { signature: string; description: string }[];
    running: number;
    waiting: number;
    /** Queries that read the index, also of the command line, and for how long the oldest one does. */
    reading: number;
    oldestMs: number | null;
    /** Of the write-ahead log. No query begins above the limit while others read. */
    logBytes: number;
    logLimitBytes: number;
  };
  /** Rejects with a RequestError that tells the operator why there is no answer. `signal` ends the query. */
  run(query: string, rows: number, signal?: AbortSignal): Promise<SqlAnswer>;
}

export interface SqlAnswer {
  columns: string[];
  rows: (string | number | null)[][];
  /** Why rows are missing at the end, null where none are. */
  cut: 'rows' | 'bytes' | null;
  head: { number: number; hash: string; timestamp: number };
  /** Blocks that lack transfers. */
  gaps: number;
  damage: string | null;
  plan: { table: string; alias: string; by: string[]; scannedRows: number | null }[];
  /** Which whole tables it read, and what its author certainly did not mean: sentences without a full stop. */
  notes: string[];
}

/** Fits a list of a thousand addresses. */
export const MAX_SQL_BODY_BYTES = 64 * 1024;

const MAX_ROWS = 10_000;

const querySchema = z.object({
  query: z.string().min(1),
  limit: z.int().min(1).max(MAX_ROWS).default(1_000),
});

/** Throws RequestError `invalid_body`. */
export function readQuery(body: unknown): { query: string; limit: number } {
  const parsed = querySchema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new RequestError(400, 'invalid_body', `send {"query": "SELECT ...", "limit": 1 to ${MAX_ROWS}}`);
}
