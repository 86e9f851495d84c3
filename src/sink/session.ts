/** One session with PostgreSQL: the connection, the lock on the schema, and transactions that verify both. */

import { hostname } from 'node:os';
import type { Writable } from 'node:stream';
import { messageOf } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import { PostgresConnection, type Sql } from '../postgres/connection.ts';
import { ownSession, PoolerError } from '../postgres/own-session.ts';
import { postgresReason } from '../postgres/reasons.ts';
import { columnList, type SinkTable } from './columns.ts';
import { COPY_HEADER, COPY_TRAILER } from './copy-rows.ts';
import { SINK_MIGRATIONS, SINK_SCHEMA, SINK_SCHEMA_VERSION } from './schema.ts';
import { shapeProblem } from './table-shapes.ts';

/** The tables and this sink are incompatible: nothing is written until an operator changes something. */
export class SinkMismatchError extends Error {
  override name = 'SinkMismatchError';
}

/** Another sink holds the schema, or took it over. */
export class SinkFencedError extends Error {
  override name = 'SinkFencedError';
}

/** Safe to show to anybody. The log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof SinkMismatchError || error instanceof SinkFencedError) return error.message;
  return postgresReason(error, settingName(URL_SETTING)) ?? `the sink failed: ${messageOf(error)}`;
}

const URL_SETTING = 'sink.postgres.url';

/** Longest wait for an answer before the connection counts as dead, milliseconds. Building indexes takes longer. */
const ANSWER_TIMEOUT_MS = 60_000;
export const LONG_TIMEOUT_MS = 3_600_000;

/** Of the session. Timeouts of the user or the database would end it. */
const SETTINGS = {
  // Free the lock of a vanished machine within half a minute.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '30000',
  idle_in_transaction_session_timeout: '60000',
  // Shorter than the wait for an answer, so that a lock is not taken for a lost connection.
  lock_timeout: '10000',
  synchronous_commit: 'off',
  maintenance_work_mem: '256MB',
};

/** First half of the advisory lock's key: "atls". The other half is a hash of the schema's name. */
const LOCK_SPACE = 0x61746c73;

/** The row of the table `sink`. */
export interface SinkRow {
  chainId: number;
  startBlock: number;
  fromBlock: number;
  partitionBlocks: number;
  wallets: boolean;
  headBlock: number | null;
  /** Last block whose trades are written; null while there is none. */
  tradesBlock: number | null;
  /** The lists that those are told by (model/trade-rules.ts); empty before the first. */
  tradeRules: string;
  /** Blocks up to `tradesBlock` of which the index lacked transfers. */
  uncertainBlocks: number;
  /** Mark of the index (model/rewrites.ts) when the last block was written. */
  mark: string;
}

/** The parameters of a new schema. */
type NewSink = Pick<SinkRow, 'chainId' | 'startBlock' | 'fromBlock' | 'partitionBlocks' | 'wallets'>;

export class Session {
  private readonly connection: PostgresConnection;
  private readonly schema: string;
  /** Process id of the server process that holds the lock. */
  private backend = 0;
  private fence = 0;

  /**
   * Connects, takes the lock and creates missing tables. Throws SinkFencedError while another sink holds the lock,
   * SinkMismatchError for tables of a newer version. The signal ends the session at once, at any moment.
   */
  static async open(url: string, schema: string, create: NewSink, signal: AbortSignal): Promise<Session> {
    const session = new Session(url, schema, signal);
    try {
      await session.lock();
      await session.prepareTables(create);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  private constructor(url: string, schema: string, signal: AbortSignal) {
    this.schema = schema;
    this.connection = new PostgresConnection(url, {
      name: 'atlas-node sink',
      setting: settingName(URL_SETTING),
      signal,
      answerTimeoutMs: ANSWER_TIMEOUT_MS,
    });
  }

  /**
   * Runs statements that commit together; `run` bounds its waits with `within`. Throws SinkFencedError when the lock
   * was lost meanwhile, because another sink may have written since. After a failure, close the session.
   */
  transaction<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    return this.connection.transaction(async (sql) => {
      await this.prove();
      return run(sql);
    });
  }

  /**
   * Like `transaction`, for COPY. Its binary format is only as safe as the types: a bigint column that somebody made
   * numeric would take the bytes as another number. The lock keeps them as they are until the commit.
   */
  writing<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    return this.transaction(async (sql) => {
      await this.within(
        sql`LOCK TABLE ONLY blocks, ONLY transfers, ONLY trades, ONLY tokens, ONLY wallets IN ROW EXCLUSIVE MODE`,
      );
      await this.requireShapes();
      return run(sql);
    });
  }

  private async requireShapes(): Promise<void> {
    const problem = await this.within(shapeProblem(this.sql, this.schema));
    if (problem !== null) throw new SinkMismatchError(problem);
  }

  /** See PostgresConnection. */
  within<T>(answer: Promise<T>, timeoutMs?: number): Promise<T> {
    return this.connection.within(answer, timeoutMs);
  }

  /** Ends the connection at once. The server rolls back uncommitted work. */
  close(): Promise<void> {
    return this.connection.close();
  }

  private get sql(): Sql {
    return this.connection.sql;
  }

  private async lock(): Promise<void> {
    this.backend = await ownSession(this.connection, SETTINGS);
    const [row] = await this.within(
      this.sql<{ pid: number; locked: boolean }[]>`
        SELECT pg_backend_pid() AS pid,
          pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${this.schema})) AS locked`,
    );
    this.requireBackend(row?.pid);
    if (!row?.locked) {
      throw new SinkFencedError(
        `another sink writes the schema "${this.schema}": stop it, or set another sink.postgres.schema`,
      );
    }
  }

  private requireBackend(pid: number | undefined): void {
    if (pid !== this.backend) throw new PoolerError(settingName(URL_SETTING));
  }

  private async prepareTables(create: NewSink): Promise<void> {
    const holder = `${hostname()} ${process.pid}`;
    const { sql } = this;
    await this.within(sql`BEGIN`);
    const [schema] = await this.within(
      sql<{ exists: boolean }[]>`SELECT to_regnamespace(quote_ident(${this.schema})) IS NOT NULL AS exists`,
    );
    // IF NOT EXISTS would demand the right to create schemas also where it exists.
    if (!schema?.exists) await this.within(sql`CREATE SCHEMA ${sql(this.schema)}`);
    await this.useSchema();
    const [{ exists } = { exists: false }] = await this.within(
      sql<{ exists: boolean }[]>`SELECT to_regclass('sink') IS NOT NULL AS exists`,
    );
    if (!exists) {
      await this.within(sql.unsafe(SINK_SCHEMA).simple());
      await this.within(sql`
        INSERT INTO sink (
          version, chain_id, start_block, from_block, partition_blocks, wallets, fence, holder, updated_at
        ) VALUES (${SINK_SCHEMA_VERSION}, ${create.chainId}, ${create.startBlock}, ${create.fromBlock},
          ${create.partitionBlocks}, ${create.wallets}, 0, '', now())`);
    }
    const [found] = await this.within(sql<{ version: number }[]>`SELECT version FROM sink FOR UPDATE`);
    for (const migration of SINK_MIGRATIONS.slice((found?.version ?? Number.POSITIVE_INFINITY) - 1))
      await this.within(sql.unsafe(migration).simple());
    const [row] = await this.within(
      sql<{ fence: string; version: number }[]>`
        UPDATE sink SET fence = fence + 1, holder = ${holder} RETURNING fence, version`,
    );
    if (row === undefined || row.version !== SINK_SCHEMA_VERSION) {
      throw new SinkMismatchError(
        `the schema "${this.schema}" has version ${row?.version}, this atlas-node writes ` +
          `${SINK_SCHEMA_VERSION}: run the version that wrote it, or set another sink.postgres.schema`,
      );
    }
    await this.requireShapes();
    await this.within(sql`COMMIT`);
    this.fence = Number(row.fence);
  }

  /**
   * The lock belongs to one connection, the fence to one sink. Both are checked, because a pooler may switch the
   * connection; the row stays locked until the commit, so two sinks cannot write at the same time.
   */
  private async prove(): Promise<void> {
    await this.useSchema();
    const [row] = await this.within(
      this.sql<{ fence: string; pid: number }[]>`
        SELECT fence, pg_backend_pid() AS pid FROM sink FOR UPDATE`,
    );
    this.requireBackend(row?.pid);
    if (Number(row?.fence) !== this.fence)
      throw new SinkFencedError(`another sink took over the schema "${this.schema}"`);
  }

  private async useSchema(): Promise<void> {
    await this.within(this.sql`SELECT set_config('search_path', quote_ident(${this.schema}), true)`);
  }

  /**
   * COPY into a table, or a temporary one with its columns. `write` receives a function that waits until the bytes are
   * handed to the connection.
   */
  async copy(
    table: SinkTable,
    write: (send: (bytes: Buffer) => Promise<void>) => Promise<void>,
    into: string = table,
  ): Promise<void> {
    // Named, because the operator may have added others.
    const query = this.sql.unsafe(`COPY ${into} (${columnList(table)}) FROM STDIN (FORMAT binary)`);
    const stream = await this.within(query.writable());
    const failed = new Promise<never>((_, reject) => {
      stream.on('error', reject);
      // The server's reaction to the last byte reaches only the query, which the package has already resolved.
      Object.assign(query, { reject });
    });
    failed.catch(() => undefined);
    try {
      await write((bytes) => this.within(Promise.race([failed, send(stream, bytes)])));
      await this.within(Promise.race([failed, finish(stream)]));
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** COPY of rows that are encoded already, in pieces of whole rows. */
  copyRows(table: SinkTable, pieces: Iterable<Buffer>, into?: string): Promise<void> {
    const write = async (send: (bytes: Buffer) => Promise<void>) => {
      await send(COPY_HEADER);
      for (const piece of pieces) await send(piece);
      await send(COPY_TRAILER);
    };
    return this.copy(table, write, into);
  }
}

function send(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) =>
    stream.write(bytes, (error) => (error ? reject(error) : resolve())),
  );
}

function finish(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.end(resolve));
}
