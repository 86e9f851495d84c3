/** Turns a `keys.db` into a cache of the keys in PostgreSQL, and makes sure it stays one of the same keys. */

import { randomUUID } from 'node:crypto';
import { readKeyRows } from '../access/keys.ts';
import {
  becomeClusterCache,
  type ClusterCache,
  cacheKeys,
  clusterCache,
  forgetSeen,
  revokeOthers,
} from '../access/keys-file.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Db } from '../store/open-database.ts';
import { KEYS_PER_PAGE, keyIds, keysAfter, unknownKeys, uploadKeys } from './key-table.ts';
import { ClusterMismatchError, type ClusterSession } from './session.ts';
import { lastVersion } from './usage-table.ts';

/**
 * Makes the file a cache of the session's keys and brings them up to date. The first file contributes its keys; a later
 * one must be empty or a copy. Throws ClusterMismatchError for a file with keys of its own, or of another cluster.
 */
export async function joinFile(db: Db, session: ClusterSession): Promise<ClusterCache> {
  const known = clusterCache(db);
  if (known === null) await adopt(db, session);
  else await requireSame(db, session, known);
  await updateKeys(db, session);
  const cache = clusterCache(db);
  if (cache === null) throw new Error(`${db.name} did not become a cache`);
  return cache;
}

async function adopt(db: Db, session: ClusterSession): Promise<void> {
  const keys = readKeyRows(db);
  if (!(await uploadKeys(session, keys))) {
    const unknown = await unknownKeys(session, keys);
    if (unknown.length > 0)
      throw new ClusterMismatchError(
        'this keys.db has keys that PostgreSQL does not have ' +
          `(${unknown.slice(0, 5).join(', ')}${unknown.length > 5 ? ', ...' : ''}), and PostgreSQL has keys already: ` +
          'move the file away to use the keys of PostgreSQL, or use another database',
      );
  }
  becomeClusterCache(db, { id: session.id, daemon: randomUUID() });
}

async function requireSame(db: Db, session: ClusterSession, known: ClusterCache): Promise<void> {
  if (known.id !== session.id)
    throw new ClusterMismatchError(
      `this keys.db caches the keys of cluster ${known.id}, and ${settingName('access.postgres')} has those ` +
        `of ${session.id}: name the database of before, or move the file away to use the keys of this one`,
    );
  const last = await lastVersion(session);
  if (last >= Math.max(known.keysSeen, known.usageSeen)) return;
  // PostgreSQL was restored from a backup, so later changes in the file no longer hold.
  forgetSeen(db);
  revokeOthers(db, await keyIds(session), Date.now());
}

/** Writes the keys that changed in PostgreSQL into the file. */
export async function updateKeys(db: Db, session: ClusterSession): Promise<void> {
  let seen = clusterCache(db)?.keysSeen ?? 0;
  for (let page = KEYS_PER_PAGE; page === KEYS_PER_PAGE; ) {
    const next = await keysAfter(session, seen);
    if (next.rows.length > 0) cacheKeys(db, next.rows, next.seen);
    page = next.rows.length;
    seen = next.seen;
  }
}
