/** The PostgreSQL table `keys`. */
import { type KeyRow, type KeySettings, keyRevoked, noSuchKey, storable, toRecord } from '../access/key.ts';
import type { RequestError } from '../lib/errors.ts';
import type { Sql } from '../postgres/connection.ts';
import { type ClusterSession, KEYS_CHANNEL } from './session.ts';

/** Rows per statement. */
export const KEYS_PER_PAGE = 1_000;

/** Longest time to fill an empty table, milliseconds: a million keys. */
const UPLOAD_TIMEOUT_MS = 120_000;

/** A change of one key as sent to PostgreSQL: with the hash of a new secret, never the secret. */
export type KeyChange =
  | { kind: 'create'; hash: Uint8Array; hint: string; settings: StoredSettings }
  | { kind: 'update'; id: number; changes: Partial<KeySettings> }
  | { kind: 'rotate'; id: number; hash: Uint8Array; hint: string }
  | { kind: 'revoke'; id: number };

type StoredSettings = ReturnType<typeof storable>;

interface Columns {
  id: string;
  hash: Buffer;
  hint: string;
  name: string;
  tier: string;
  created_at: Date;
  rotated_at: Date | null;
  revoked_at: Date | null;
  expires_at: Date | null;
  allow: string;
  version: string;
}

/** Makes a change and notifies all daemons. Returns the key afterwards, or why nothing was changed. */
export function changeKey(session: ClusterSession, change: KeyChange): Promise<KeyRow | RequestError> {
  return session.write(async (sql) => {
    if (change.kind !== 'create') {
      const [before] = await sql<Columns[]>`SELECT * FROM atlas_keys.keys WHERE id = ${change.id}`;
      if (before === undefined) return noSuchKey(change.id);
      if (change.kind !== 'revoke' && before.revoked_at !== null) return keyRevoked(change.id);
      if (change.kind === 'update') Object.assign(before, merged(before, change.changes));
      await write(sql, change, before);
    }
    const [after] =
      change.kind === 'create'
        ? await insert(sql, change)
        : await sql<Columns[]>`SELECT * FROM atlas_keys.keys WHERE id = ${change.id}`;
    if (after === undefined) throw new Error('PostgreSQL did not return the changed key');
    await sql`SELECT pg_notify(${KEYS_CHANNEL}, '')`;
    return rowOf(after);
  });
}

/** The key's stored form after the changes. */
function merged(
  before: Columns,
  changes: Partial<KeySettings>,
): Pick<Columns, 'name' | 'tier' | 'expires_at' | 'allow'> {
  const { name, tier, expiresAt, allow } = storable({ ...toRecord(rowOf(before)), ...changes });
  return { name, tier, expires_at: dateOf(expiresAt), allow };
}

async function write(sql: Sql, change: Exclude<KeyChange, { kind: 'create' }>, row: Columns): Promise<void> {
  const { id } = change;
  if (change.kind === 'update')
    await sql`
      UPDATE atlas_keys.keys SET name = ${row.name}, tier = ${row.tier}, expires_at = ${row.expires_at},
        allow = ${row.allow}, version = nextval('atlas_keys.change') WHERE id = ${id}`;
  else if (change.kind === 'rotate')
    await sql`
      UPDATE atlas_keys.keys SET hash = ${Buffer.from(change.hash)}, hint = ${change.hint}, rotated_at = now(),
        version = nextval('atlas_keys.change') WHERE id = ${id}`;
  else
    await sql`
      UPDATE atlas_keys.keys SET revoked_at = now(), version = nextval('atlas_keys.change')
      WHERE id = ${id} AND revoked_at IS NULL`;
}

function insert(
  sql: Sql,
  { hash, hint, settings }: Extract<KeyChange, { kind: 'create' }>,
): Promise<Columns[]> {
  const { name, tier, expiresAt, allow } = settings;
  return sql<Columns[]>`
    INSERT INTO atlas_keys.keys (hash, hint, name, tier, created_at, expires_at, allow, version)
    VALUES (${Buffer.from(hash)}, ${hint}, ${name}, ${tier}, now(), ${dateOf(expiresAt)}, ${allow},
      nextval('atlas_keys.change')) RETURNING *`;
}

/** Keys that changed after `seen`, in order, and the version up to which they are complete. */
export async function keysAfter(
  session: ClusterSession,
  seen: number,
): Promise<{ rows: KeyRow[]; seen: number }> {
  const columns = await session.read(
    (sql) => sql<Columns[]>`
      SELECT * FROM atlas_keys.keys WHERE version > ${seen} ORDER BY version LIMIT ${KEYS_PER_PAGE}`,
  );
  return { rows: columns.map(rowOf), seen: Number(columns.at(-1)?.version ?? seen) };
}

/** The ids of all keys. */
export async function keyIds(session: ClusterSession): Promise<number[]> {
  const rows = await session.read((sql) => sql<{ id: string }[]>`SELECT id FROM atlas_keys.keys`);
  return rows.map(({ id }) => Number(id));
}

/**
 * Fills an empty table with the keys of a file, including their ids. Returns false, and writes nothing, if the table
 * has keys.
 */
export function uploadKeys(session: ClusterSession, keys: readonly KeyRow[]): Promise<boolean> {
  return session.write(async (sql) => {
    const [{ exists } = { exists: true }] = await sql<{ exists: boolean }[]>`
      SELECT EXISTS (SELECT FROM atlas_keys.keys) AS exists`;
    if (exists) return false;
    for (let at = 0; at < keys.length; at += KEYS_PER_PAGE) {
      const rows = keys.slice(at, at + KEYS_PER_PAGE).map((key) => ({ ...key, hash: hexOf(key.hash) }));
      await sql`
        INSERT INTO atlas_keys.keys
          (id, hash, hint, name, tier, created_at, rotated_at, revoked_at, expires_at, allow, version)
        SELECT id, decode(hash, 'hex'), hint, name, tier, to_timestamp("createdAt" / 1000.0),
          to_timestamp("rotatedAt" / 1000.0), to_timestamp("revokedAt" / 1000.0), to_timestamp("expiresAt" / 1000.0),
          allow, nextval('atlas_keys.change')
        FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS list(id bigint, hash text, hint text, name text,
          tier text, "createdAt" bigint, "rotatedAt" bigint, "revokedAt" bigint, "expiresAt" bigint, allow text)
        ORDER BY id`;
    }
    if (keys.length > 0)
      await sql`
        SELECT setval(pg_get_serial_sequence('atlas_keys.keys', 'id'), (SELECT max(id) FROM atlas_keys.keys))`;
    return true;
  }, UPLOAD_TIMEOUT_MS);
}

/** The keys that PostgreSQL lacks with that id and secret. */
export async function unknownKeys(session: ClusterSession, keys: readonly KeyRow[]): Promise<number[]> {
  const list = JSON.stringify(keys.map(({ id, hash }) => ({ id, hash: hexOf(hash) })));
  const rows = await session.read(
    (sql) => sql<{ id: string }[]>`
      SELECT list.id FROM json_to_recordset(${list}::text::json) AS list(id bigint, hash text)
      LEFT JOIN atlas_keys.keys k ON k.id = list.id AND k.hash = decode(list.hash, 'hex') WHERE k.id IS NULL`,
  );
  return rows.map(({ id }) => Number(id));
}

function rowOf(row: Columns): KeyRow {
  return {
    id: Number(row.id),
    hash: row.hash,
    hint: row.hint,
    name: row.name,
    tier: row.tier,
    createdAt: row.created_at.getTime(),
    rotatedAt: row.rotated_at?.getTime() ?? null,
    revokedAt: row.revoked_at?.getTime() ?? null,
    expiresAt: row.expires_at?.getTime() ?? null,
    allow: row.allow,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
