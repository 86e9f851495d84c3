/** `keys.db` as a cache of keys that several daemons share in PostgreSQL (src/cluster). */
import type { Db } from '../store/open-database.ts';
import type { KeyRow } from './key.ts';

/** The row of the table `cluster`. */
export interface ClusterCache {
  id: string;
  daemon: string;
  keysSeen: number;
  usageSeen: number;
}

/** Null if the file is not a cache. */
export function clusterCache(db: Db): ClusterCache | null {
  return (
    db
      .prepare<[], ClusterCache>(
        'SELECT id, daemon, keys_seen AS keysSeen, usage_seen AS usageSeen FROM cluster',
      )
      .get() ?? null
  );
}

/** Turns the file into an empty cache. */
export function becomeClusterCache(db: Db, { id, daemon }: Pick<ClusterCache, 'id' | 'daemon'>): void {
  db.prepare('INSERT INTO cluster (one, id, daemon, keys_seen, usage_seen) VALUES (1, ?, ?, 0, 0)').run(
    id,
    daemon,
  );
}

/** Makes the next synchronization read everything again. */
export function forgetSeen(db: Db): void {
  db.prepare('UPDATE cluster SET keys_seen = 0, usage_seen = 0').run();
}

/** Writes keys as stored in PostgreSQL. `seen` is their highest version, null when keys below it may be missing. */
export function cacheKeys(db: Db, rows: readonly KeyRow[], seen: number | null): void {
  const write = db.prepare(/* sql */ `
    INSERT INTO keys (id, hash, hint, name, tier, created_at, rotated_at, revoked_at, expires_at, allow)
    VALUES (@id, @hash, @hint, @name, @tier, @createdAt, @rotatedAt, @revokedAt, @expiresAt, @allow)
    ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, hint = excluded.hint, name = excluded.name,
      tier = excluded.tier, created_at = excluded.created_at, rotated_at = excluded.rotated_at,
      revoked_at = excluded.revoked_at, expires_at = excluded.expires_at, allow = excluded.allow`);
  db.transaction(() => {
    for (const row of rows) write.run(row);
    if (seen !== null) db.prepare('UPDATE cluster SET keys_seen = ?').run(seen);
  }).immediate();
}

/** Revokes the cached keys that PostgreSQL lacks because it was restored from an older backup. */
export function revokeOthers(db: Db, ids: readonly number[], now: number): number {
  return db
    .prepare(
      'UPDATE keys SET revoked_at = ? WHERE revoked_at IS NULL AND id NOT IN (SELECT value FROM json_each(?))',
    )
    .run(now, JSON.stringify(ids)).changes;
}
