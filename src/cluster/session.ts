/** One session with the tables of the shared keys. */
import { messageOf } from '../lib/errors.ts';
import { PostgresConnection, postgresReason, type Sql } from '../postgres/connection.ts';
import { CLUSTER_MIGRATIONS, CLUSTER_SCHEMA_VERSION, KEYS_CHANNEL } from './schema.ts';

/** The daemon and PostgreSQL are incompatible until an operator changes something. The message names both sides. */
export class ClusterMismatchError extends Error {
  override name = 'ClusterMismatchError';
}

/** Safe to show to anybody. The log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof ClusterMismatchError) return error.message;
  return postgresReason(error, 'access.postgres') ?? `sharing keys failed: ${messageOf(error)}`;
}

/** Longest wait for an answer, milliseconds, because an operator is waiting. */
const ANSWER_TIMEOUT_MS = 10_000;

/** First half of the advisory locks' keys: "atlc". */
const LOCK_SPACE = 0x61746c63;

/** Second half of the lock that guards creating the tables. Other locks use hashes of daemon ids. */
const TABLES_LOCK = 0;

export class ClusterSession {
  /** The cluster's id. */
  readonly id: string;
  private readonly connection: PostgresConnection;

  /** Connects and creates missing tables. Throws ClusterMismatchError for tables of a newer version. */
  static async open(url: string): Promise<ClusterSession> {
    const connection = new PostgresConnection(url, {
      name: 'atlas-node keys',
      answerTimeoutMs: ANSWER_TIMEOUT_MS,
    });
    try {
      return new ClusterSession(connection, await prepareTables(connection));
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  private constructor(connection: PostgresConnection, id: string) {
    this.connection = connection;
    this.id = id;
  }

  /** A single statement. */
  read<T>(query: (sql: Sql) => Promise<T>): Promise<T> {
    return this.connection.within(query(this.connection.sql));
  }

  /**
   * Runs statements that commit together, one such transaction at a time over all daemons. After a failure, close the
   * session. Throws ClusterMismatchError when a newer program has changed the tables meanwhile.
   */
  write<T>(run: (sql: Sql) => Promise<T>, timeoutMs = ANSWER_TIMEOUT_MS): Promise<T> {
    return this.connection.transaction(async (sql) => {
      const [row] = await this.connection.within(
        sql<{ version: number }[]>`SELECT version FROM atlas_keys.cluster FOR UPDATE`,
      );
      requireVersion(row?.version);
      return this.connection.within(run(sql), timeoutMs);
    });
  }

  /** Holds the identity of a daemon as long as the session lives; false while another session holds it. */
  async lockDaemon(daemon: string): Promise<boolean> {
    const [row] = await this.read(
      (sql) =>
        sql<
          { locked: boolean }[]
        >`SELECT pg_try_advisory_lock(${LOCK_SPACE}::int, hashtext(${daemon})) AS locked`,
    );
    return row?.locked === true;
  }

  /** Calls the listener whenever a key was created or changed. */
  async onKeysChanged(listener: () => void): Promise<void> {
    await this.connection.within(this.connection.sql.listen(KEYS_CHANNEL, listener));
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Migrates the tables to this program's version and returns the cluster's id. */
async function prepareTables(connection: PostgresConnection): Promise<string> {
  const { sql } = connection;
  const within = <T>(answer: Promise<T>) => connection.within(answer);
  // Frees the locks of a vanished machine within half a minute, and waits for no silent one.
  await within(
    sql
      .unsafe(/* sql */ `
        SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = 30000; SET idle_in_transaction_session_timeout = 10000; SET lock_timeout = 8000`)
      .simple(),
  );
  return connection.transaction(async () => {
    await within(sql`SELECT pg_advisory_xact_lock(${LOCK_SPACE}::int, ${TABLES_LOCK}::int)`);
    const [{ exists } = { exists: false }] = await within(
      sql<{ exists: boolean }[]>`SELECT to_regclass('atlas_keys.cluster') IS NOT NULL AS exists`,
    );
    const known = exists ? await within(readCluster(sql)) : undefined;
    if (known?.version === CLUSTER_SCHEMA_VERSION) return known.id;
    if (known !== undefined && known.version > CLUSTER_SCHEMA_VERSION) requireVersion(known.version);
    for (const migration of CLUSTER_MIGRATIONS.slice(known?.version ?? 0))
      await within(sql.unsafe(migration).simple());
    if (known === undefined)
      await within(sql`
        INSERT INTO atlas_keys.cluster (version, id, created_at)
        VALUES (${CLUSTER_SCHEMA_VERSION}, gen_random_uuid(), now())`);
    else await within(sql`UPDATE atlas_keys.cluster SET version = ${CLUSTER_SCHEMA_VERSION}`);
    return (await within(readCluster(sql))).id;
  });
}

async function readCluster(sql: Sql): Promise<{ id: string; version: number }> {
  const [row] = await sql<{ id: string; version: number }[]>`SELECT id, version FROM atlas_keys.cluster`;
  if (row === undefined) throw new Error('the table atlas_keys.cluster is empty');
  return row;
}

function requireVersion(version: number | undefined): void {
  if (version === CLUSTER_SCHEMA_VERSION) return;
  throw new ClusterMismatchError(
    `the tables of the shared keys in PostgreSQL have version ${version}, this atlas-node knows ${CLUSTER_SCHEMA_VERSION}: run the version that wrote them`,
  );
}
