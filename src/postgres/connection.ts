/** One connection to PostgreSQL: bounded waits, and transactions that a lost connection cannot split. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

const CONNECT_TIMEOUT_SECONDS = 10;

export interface ConnectionOptions {
  /** Shown by PostgreSQL in its list of sessions. */
  name: string;
  /** Longest wait for an answer before the connection counts as dead, milliseconds. */
  answerTimeoutMs: number;
}

/** The SQL of the connection. */
export type Sql = postgres.Sql;

export class PostgresConnection {
  readonly sql: Sql;
  private readonly answerTimeoutMs: number;

  /** Connects with the first statement. */
  constructor(url: string, { name, answerTimeoutMs }: ConnectionOptions) {
    this.answerTimeoutMs = answerTimeoutMs;
    this.sql = postgres(url, {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      keep_alive: 10,
      max_lifetime: null,
      fetch_types: false,
      prepare: false, // the search path may differ between transactions of a pooler
      onnotice: () => undefined,
      // A new connection would have neither the locks nor the transaction: nothing may run on one.
      onclose: () => void this.close(),
      connection: { application_name: name },
    });
  }

  /**
   * Runs statements that commit together; `run` bounds its waits with `within`. After a failure the connection must be
   * closed, which rolls back: a ROLLBACK on a connection that is gone makes the package fail where nobody can catch it.
   */
  async transaction<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    const { sql } = this;
    await this.within(sql`BEGIN`);
    const result = await run(sql);
    const { command } = await this.within(sql`COMMIT`);
    // The answer of PostgreSQL to the COMMIT of a transaction that it has aborted.
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${command}`);
    return result;
  }

  /** Ends a wait for an answer that does not come; `close` then ends the connection. */
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
      answer.catch(() => undefined); // its failure after the time limit is that of the connection
    }
  }

  /** Ends the connection at once; whatever was not committed is rolled back by the server. */
  async close(): Promise<void> {
    await this.sql.end({ timeout: 0 });
  }
}
