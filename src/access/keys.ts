/** API keys: issued once, stored hashed, verified from memory. */

import { hash } from 'node:crypto';
import { RequestError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { FileIdentity } from '../store/file-guard.ts';
import type { Db } from '../store/open-database.ts';
import {
  generateKey,
  type IssuedKey,
  isWellFormedKey,
  type KeyChanges,
  type KeyRecord,
  type KeyRow,
  type KeySettings,
  keyRevoked,
  type NewKeySettings,
  noSuchKey,
  PUBLIC_KEY,
  secretOf,
  storable,
  storableNew,
  toRecord,
} from './key.ts';
import { clusterCache, isFileFailure, openKeysFile, readKeysFile, toKeysStorageError } from './keys-file.ts';

/** How often to check the file for changes by other processes, ms. Changes must take effect within one second. */
const REFRESH_MS = 250;

type IdsListener = (ids: number[]) => void;

/** A key that is not revoked. */
interface StoredKey {
  /** Hex SHA-256 of its text. */
  digest: string;
  record: KeyRecord;
}

const COLUMNS =
  /* sql */ 'id, hash, hint, name, tier, created_at AS createdAt, rotated_at AS rotatedAt, ' +
  'revoked_at AS revokedAt, expires_at AS expiresAt, allow';

/** All keys ever issued, oldest first, in their stored form. */
export function readKeyRows(db: Db): KeyRow[] {
  return readKeysFile(db, () => db.prepare<[], KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY id`).all());
}

/** Opens the keys of a data directory. Throws FatalError when the file is unusable. */
export function openKeyStore(path: string): KeyStore {
  return new KeyStore(openKeysFile(path));
}

/**
 * The keys file, with its valid keys in memory. Own changes take effect at once, those of other processes within
 * REFRESH_MS.
 */
export class KeyStore implements KeyChanges {
  /** The connection, for the other tables in the same file. */
  readonly db: Db;
  /** Keys by id. A record stays the same object, so that open sockets see a change of its tier. */
  private readonly stored = new Map<number, StoredKey>();
  /** The records of valid keys by digest. */
  private readonly byHash = new Map<string, KeyRecord>();
  /** Valid keys by their text, added on first use; bounded by the number of valid keys. */
  private readonly verified = new Map<string, KeyRecord>();
  private readonly invalidatedListeners = new Set<IdsListener>();
  private readonly allowListListeners = new Set<IdsListener>();
  private readonly refreshTimer: NodeJS.Timeout;
  private readonly fileIdentity: FileIdentity;
  private version: unknown;
  /** Highest keys.change read so far. */
  private change = -1;
  /** No valid key expires before this, Unix milliseconds. */
  private nextExpiry = Number.POSITIVE_INFINITY;
  /** Time of the last expiry check. */
  private checkedAt = 0;
  /** Called once when changes by other processes cannot be read. Keys already in memory stay valid. */
  onUnreadable: (error: Error) => void = () => undefined;
  private isUnreadable = false;
  /** Id of the key that PUBLIC_KEY stands for; 0 for none. */
  publicKeyId = 0;

  constructor(db: Db) {
    this.db = db;
    this.reload();
    this.fileIdentity = new FileIdentity(db.name);
    this.refreshTimer = setInterval(
      guarded('changed keys', () => this.reloadIfChanged()),
      REFRESH_MS,
    ).unref();
  }

  /** Issues a key. Throws RequestError `invalid_parameter` for an invalid name, expiry or allow list. */
  create(settings: NewKeySettings): IssuedKey {
    const key = generateKey();
    const { name, tier, expiresAt, allow } = storableNew(settings);
    const { hash, hint } = secretOf(key);
    const values = [hash, hint, name, tier, Date.now(), expiresAt, allow];
    const record = this.durably(() => {
      const { lastInsertRowid } = this.db
        .prepare(
          'INSERT INTO keys (hash, hint, name, tier, created_at, expires_at, allow) VALUES (?, ?, ?, ?, ?, ?, ?)',
        )
        .run(...values);
      return this.find(Number(lastInsertRowid));
    });
    return { key, record };
  }

  /**
   * Applies the given changes. An expiry in the past invalidates the key; a future one revalidates an expired key.
   * Throws RequestError `not_found`, `key_revoked`, or `invalid_parameter` for an invalid name or allow list.
   */
  update(id: number, changes: Partial<KeySettings>): KeyRecord {
    return this.durably(() => {
      const before = this.requireUnrevoked(id);
      const { name, tier, expiresAt, allow } = storable({ ...toRecord(before), ...changes });
      this.db
        .prepare('UPDATE keys SET name = ?, tier = ?, expires_at = ?, allow = ? WHERE id = ?')
        .run(name, tier, expiresAt, allow, id);
      return this.find(id);
    });
  }

  /** All keys ever issued, oldest first. */
  list(): KeyRecord[] {
    return readKeyRows(this.db).map(toRecord);
  }

  /** The currently valid keys, from memory. */
  valid(): Iterable<KeyRecord> {
    return this.byHash.values();
  }

  /** Invalidates a key permanently. Revoking twice changes nothing. Throws RequestError `not_found`. */
  revoke(id: number): KeyRecord {
    return this.durably(() => {
      this.db
        .prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')
        .run(Date.now(), id);
      return this.find(id);
    });
  }

  /**
   * Replaces the secret of a key and invalidates the old one; id, name, tier, usage and quota stay. Throws RequestError
   * `not_found`, or `key_revoked` for a key that is no longer valid.
   */
  rotate(id: number): IssuedKey {
    const key = generateKey();
    const record = this.durably(() => {
      this.requireUnrevoked(id);
      const { hash, hint } = secretOf(key);
      this.db
        .prepare('UPDATE keys SET hash = ?, hint = ?, rotated_at = ? WHERE id = ?')
        .run(hash, hint, Date.now(), id);
      return this.find(id);
    });
    return { key, record };
  }

  /** The record of a valid key, or null. One Map lookup for a key in use, one SHA-256 for a new one. */
  verify(key: string): KeyRecord | null {
    const known = this.verified.get(key);
    if (known !== undefined) return known;
    if (key !== PUBLIC_KEY && !isWellFormedKey(key)) return null;
    const digest =
      key === PUBLIC_KEY ? this.stored.get(this.publicKeyId)?.digest : hash('sha256', key, 'hex');
    const record = digest === undefined ? undefined : this.byHash.get(digest);
    if (record === undefined) return null;
    this.verified.set(key, record);
    return record;
  }

  /**
   * Calls the listener with the ids of keys whose secret became invalid because it was revoked or rotated, here or by
   * another process. Returns a function that unsubscribes.
   */
  onInvalidated(listener: IdsListener): () => void {
    this.invalidatedListeners.add(listener);
    return () => this.invalidatedListeners.delete(listener);
  }

  /** Calls the listener with the ids of valid keys whose allow list was changed, here or by another process. */
  onAllowListChanged(listener: IdsListener): () => void {
    this.allowListListeners.add(listener);
    return () => this.allowListListeners.delete(listener);
  }

  close(): void {
    clearInterval(this.refreshTimer);
    this.invalidatedListeners.clear();
    this.allowListListeners.clear();
    this.db.close();
  }

  private requireUnrevoked(id: number): KeyRow {
    const row = this.find(id);
    if (row.revokedAt === null) return row;
    throw keyRevoked(id);
  }

  private find(id: number): KeyRow {
    const row = this.db.prepare<[number], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE id = ?`).get(id);
    if (row === undefined) throw noSuchKey(id);
    return row;
  }

  /**
   * Runs a change of one key and returns its record. The change survives a power cut, because the key is then shown or
   * reported as revoked. Throws StorageError, and changes nothing, when the file cannot be written or was moved away.
   * Everything that can fail comes before the commit, because a valid key that was never shown is useless.
   */
  private durably(change: () => KeyRow): KeyRecord {
    this.fileIdentity.check();
    let changed: KeyRow;
    try {
      this.db.pragma('synchronous = FULL');
      changed = this.db
        .transaction(() => {
          if (clusterCache(this.db) !== null) throw CACHE_ONLY;
          return change();
        })
        .immediate();
    } catch (error) {
      throw toKeysStorageError(error, this.db);
    } finally {
      this.db.pragma('synchronous = NORMAL');
    }
    this.apply([changed]);
    return toRecord(changed);
  }

  /** Reads changes by other connections since the last check, and looks for expired keys. */
  reloadIfChanged(): void {
    try {
      if (this.db.pragma('data_version', { simple: true }) !== this.version) this.reload();
      const now = Date.now();
      if (now >= this.nextExpiry || now < this.checkedAt) this.checkExpiries(now);
      this.checkedAt = now;
      this.isUnreadable = false;
    } catch (error) {
      const translated = toKeysStorageError(error, this.db);
      if (!isFileFailure(translated)) throw translated;
      if (!this.isUnreadable) this.onUnreadable(translated);
      this.isUnreadable = true;
    }
  }

  /** Reads only the changed keys: all of 100,000 would block the event loop for half a second. */
  private reload(): void {
    const version = this.db.pragma('data_version', { simple: true });
    const newest = this.db.prepare<[], number | null>('SELECT max(change) FROM keys').pluck().get() ?? null;
    const rows = this.db
      .prepare<[number], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE change > ?`)
      .all(this.change);
    // After the reads, so that failed reads are repeated.
    this.version = version;
    this.change = newest ?? this.change;
    this.apply(rows);
  }

  /** Applies changed rows to memory. */
  private apply(rows: readonly KeyRow[]): void {
    if (rows.length === 0) return;
    const now = Date.now();
    const invalidated: number[] = [];
    const withNewAllowList: number[] = [];
    for (const row of rows) {
      const before = this.stored.get(row.id);
      const wasValid = before !== undefined && this.byHash.has(before.digest);
      const hasNewAllowList = before !== undefined && before.record.allow.join() !== row.allow;
      const key = { digest: digestOf(row), record: Object.assign(before?.record ?? {}, toRecord(row)) };
      if (before !== undefined) this.byHash.delete(before.digest);
      if (row.revokedAt === null) this.stored.set(row.id, key);
      else this.stored.delete(row.id);
      const isValid = this.admitUntilExpiry(key, now);
      if (wasValid && !(isValid && key.digest === before.digest)) invalidated.push(row.id);
      else if (wasValid && hasNewAllowList) withNewAllowList.push(row.id);
    }
    this.verified.clear();
    report(this.invalidatedListeners, invalidated);
    report(this.allowListListeners, withNewAllowList);
  }

  /** Drops expired keys, and restores keys that a corrected clock makes valid again. */
  private checkExpiries(now: number): void {
    this.nextExpiry = Number.POSITIVE_INFINITY;
    const invalidated: number[] = [];
    for (const key of this.stored.values()) {
      if (this.admitUntilExpiry(key, now)) continue;
      if (this.byHash.delete(key.digest)) invalidated.push(key.record.id);
    }
    this.verified.clear();
    report(this.invalidatedListeners, invalidated);
  }

  /** Makes a valid key usable. Returns whether it is valid. */
  private admitUntilExpiry({ digest, record }: StoredKey, now: number): boolean {
    if (!isValidAt(record, now)) return false;
    this.byHash.set(digest, record);
    this.nextExpiry = Math.min(this.nextExpiry, record.expiresAt ?? Number.POSITIVE_INFINITY);
    return true;
  }
}

function report(listeners: ReadonlySet<IdsListener>, ids: number[]): void {
  if (ids.length > 0) for (const listener of listeners) listener(ids);
}

function isValidAt(
  { revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>,
  now: number,
): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}

/** Refuses changes of a cache, of which PostgreSQL and the other daemons would not learn. */
const CACHE_ONLY = new RequestError(
  409,
  'shared_keys',
  'this keys.db is a cache of keys in PostgreSQL: name the configuration that has access.postgres ' +
    '(--config, or ATLAS_ACCESS__POSTGRES)',
);

function digestOf({ hash }: KeyRow): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex');
}
