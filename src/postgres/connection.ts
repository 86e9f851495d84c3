/**
 * One connection to PostgreSQL: bounded waits, transactions that a lost connection cannot split, and why it fails,
 * without host and user names.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';

const CONNECT_TIMEOUT_SECONDS = 10;

export interface ConnectionOptions {
  /** Shown in PostgreSQL's list of sessions. */
  name: string;
  /** Longest wait for an answer before the connection counts as dead, milliseconds. */
  answerTimeoutMs: number;
}

/** The SQL of the connection. */
export type Sql = postgres.Sql;

export class PostgresConnection {
  readonly sql: Sql;
  private readonly answerTimeoutMs: number;

  /** The first statement connects. */
  constructor(url: string, { name, answerTimeoutMs }: ConnectionOptions) {
    this.answerTimeoutMs = answerTimeoutMs;
    this.sql = postgres(url, {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      keep_alive: 10,
      max_lifetime: null,
      fetch_types: false,
      prepare: false, // behind a pooler, the search path may differ between transactions
      onnotice: () => undefined,
      // A new connection would have neither the locks nor the transaction, so nothing may run on it.
      onclose: () => void this.close(),
      connection: { application_name: name },
    });
  }

  /**
   * Runs statements that commit together; `run` bounds its waits with `within`. After a failure, close the connection,
   * which rolls back: a ROLLBACK on a lost connection makes the package fail where nobody can catch the error.
   */
  async transaction<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    const { sql } = this;
    await this.within(sql`BEGIN`);
    const result = await run(sql);
    const { command } = await this.within(sql`COMMIT`);
    // PostgreSQL's answer to the COMMIT of a transaction that it has aborted.
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${command}`);
    return result;
  }

  /** Gives up waiting for an answer; `close` then ends the connection. */
  async within<T>(answer: Promise<T>, timeoutMs = this.answerTimeoutMs): Promise<T> {
    const stop = new AbortController();
    const late = sleep(timeoutMs, undefined, { signal: stop.signal }).then(() => {
      throw Object.assign(new Error(`PostgreSQL did not answer within ${timeoutMs / 1000} s`), {
        code: 'ETIMEDOUT',
      });
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([answer, late]);
    } finally {
      stop.abort();
      answer.catch(() => undefined); // after the time limit, its failure is the connection's
    }
  }

  /** Ends the connection at once. The server rolls back uncommitted work. */
  async close(): Promise<void> {
    await this.sql.end({ timeout: 0 });
  }
}

/** Advice by SQLSTATE. `setting` is the setting that holds the URL. */
const ADVICE: Record<string, (setting: string) => string> = {
  '28000': (setting) => `it refuses the user of ${setting}`,
  '28P01': (setting) => `it refuses the user or the password of ${setting}`,
  '3D000': (setting) => `the database of ${setting} does not exist: create it`,
  '42501': () => 'the user lacks a right: it must be able to create and write the schema',
  '53100': () => 'its disk is full: free some space',
  '53200': () => 'it is out of memory',
  '53300': () => 'it has no free connection: raise max_connections',
  '57P01': () => 'it is shutting down',
  '57P02': () => 'it is restarting after a crash',
  '57P03': () => 'it is starting up or shutting down',
  '58030': () => 'it cannot read or write its files',
};

/** Safe to show to anybody; null for an error that does not concern the connection. */
export function postgresReason(error: unknown, setting: string): string | null {
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError)
    return `PostgreSQL refuses: ${ADVICE[code]?.(setting) ?? `error ${code}, explained in the log`}`;
  if (code.startsWith('CONNECTION_')) return 'the connection to PostgreSQL was lost';
  return code === '' ? null : `PostgreSQL cannot be reached (${code})`;
}
