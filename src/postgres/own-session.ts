/**
 * Makes sure that a connection is one session of PostgreSQL, with its locks and settings, and not one of many clients
 * that a pooler serves in turn.
 */
import { PostgresSetupError } from './address.ts';
import type { PostgresConnection } from './connection.ts';

/** A pooler hands the connection to another session between transactions. */
export class PoolerError extends PostgresSetupError {
  override name = 'PoolerError';
  constructor(setting: string) {
    super(
      'a pooler between this daemon and PostgreSQL switches sessions between transactions, which loses ' +
        `locks: name PostgreSQL itself in ${setting}, or set pool_mode = session for this database in PgBouncer`,
    );
  }
}

/** Longest wait for the second session, milliseconds: a pool of one in session mode never gives it. */
const PROBE_MS = 2_000;

/**
 * Settings of a user, a database or a pooled session that would end a session of this program, or change its answers.
 */
const NEUTRAL = {
  statement_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  bytea_output: 'hex',
  datestyle: 'ISO, MDY',
  timezone: 'UTC',
  standard_conforming_strings: 'on',
};

/**
 * Applies settings of the session that this version of PostgreSQL knows, and resolves with the id of its process.
 * Throws PoolerError where a pooler demonstrably shares that process between clients.
 */
export async function ownSession(
  connection: PostgresConnection,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const { sql } = connection;
  const pid = await backendOf(connection);
  if (!pid.isDirect) await requireOwn(connection, pid.process);
  await connection.within(sql`
    SELECT set_config(given.name, given.value, false)
    FROM json_each_text(${JSON.stringify({ ...NEUTRAL, ...settings })}::text::json) AS given(name, value)
      JOIN pg_settings known ON lower(known.name) = given.name`);
  return pid.process;
}

/** A second client gets another process from PostgreSQL, and from a pooler in session mode. */
async function requireOwn(connection: PostgresConnection, own: number): Promise<void> {
  const probe = connection.sibling();
  try {
    const second = await backendOf(probe, PROBE_MS).catch(() => null); // proves nothing, nor would a retry
    if (second?.process === own) throw new PoolerError(connection.setting);
  } finally {
    await probe.close();
  }
}

async function backendOf(
  connection: PostgresConnection,
  timeoutMs?: number,
): Promise<{ process: number; isDirect: boolean }> {
  const rows = await connection.within(
    connection.sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`,
    timeoutMs,
  );
  const process = rows[0]?.pid ?? 0;
  // A pooler gives its clients process ids of its own.
  return { process, isDirect: rows.state.pid === process };
}
