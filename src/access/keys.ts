/** API keys: issued once, stored hashed, verified from memory. */
import { hash } from 'node:crypto';
import { RequestError } from '../lib/errors.ts';
import { FileIdentity } from '../store/file-guard.ts';
import type { Db } from '../store/open-database.ts';
import { clusterCache } from './cluster-cache.ts';
import {
  type IssuedKey,
  type KeyChanges,
  type KeyRecord,
  type KeyRow,
  type KeySettings,
  keyRevoked,
  type NewKeySettings,
  noSuchKey,
  secretOf,
  storable,
  toRecord,
} from './key.ts';
import { generateKey, isWellFormedKey, PUBLIC_KEY } from './key-format.ts';
import { isFileFailure, openKeysFile, readKeysFile, toKeysStorageError } from './keys-file.ts';

/** How often the file is checked for changes by other processes, ms. They must take effect within one second. */
const REFRESH_MS = 250;

type IdsListener = (ids: number[]) => void;

/** One key before and after a change. `before` is null for a new key. */
interface KeyChange {
  before: KeyRow | null;
  after: KeyRow;
}

const COLUMNS = /* sql */ `id, hash, hint, name, tier, created_at AS createdAt, rotated_at AS rotatedAt, revoked_at AS revokedAt, expires_at AS expiresAt, allow`;

/** All keys ever issued, oldest first, as they are stored. */
export function readKeyRows(db: Db): KeyRow[] {
  return readKeysFile(db, () => db.prepare<[], KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY id`).all());
}

/** Opens the keys of a data directory. Throws FatalError when the file is unusable. */
export function openKeyStore(path: string): KeyStore {
  return new KeyStore(openKeysFile(path));
}

/** The keys file with its valid keys in memory. Own changes take effect at once, those of other processes in REFRESH_MS. */
export class KeyStore implements KeyChanges {
  /** The connection, for the other tables in the same file. */
  readonly db: Db;
  /**
   * Valid keys by the hex SHA-256 of their text. A record stays the same object while its key is valid, so that open
   * sockets see a change of its tier.
   */
  private byHash = new Map<string, KeyRecord>();
  /** Valid keys by their text, added when first used; bounded by the number of valid keys. */
  private readonly verified = new Map<string, KeyRecord>();
  private readonly invalidatedListeners = new Set<IdsListener>();
  private readonly allowListListeners = new Set<IdsListener>();
  private readonly refreshTimer: NodeJS.Timeout;
  private readonly fileIdentity: FileIdentity;
  private version: unknown;
  /** When the next valid key expires, Unix milliseconds. */
  private nextExpiry = Number.POSITIVE_INFINITY;
  /** Called once when changes by other processes cannot be read. The keys already in memory stay valid. */
  onUnreadable: (error: Error) => void = () => undefined;
  private isUnreadable = false;
  /** The key that PUBLIC_KEY stands for; 0 for none. */
  publicKeyId = 0;

  constructor(db: Db) {
    this.db = db;
    this.reload();
    this.fileIdentity = new FileIdentity(db.name);
    this.refreshTimer = setInterval(() => this.reloadIfChanged(), REFRESH_MS).unref();
  }

  /** Issues a key. Throws RequestError `invalid_parameter` for an unusable name or allow list. */
  create(settings: NewKeySettings): IssuedKey {
    const key = generateKey();
    const { name, tier, expiresAt, allow } = storable(settings);
    const { hash, hint } = secretOf(key);
    const values = [hash, hint, name, tier, Date.now(), expiresAt, allow];
    const record = this.durably(() => {
      const { lastInsertRowid } = this.db
        .prepare(
          'INSERT INTO keys (hash, hint, name, tier, created_at, expires_at, allow) VALUES (?, ?, ?, ?, ?, ?, ?)',
        )
        .run(...values);
      return { before: null, after: this.find(Number(lastInsertRowid)) };
    });
    return { key, record };
  }

  /**
   * Changes what is given. An expiry in the past invalidates the key, a later one makes an expired key valid again.
   * Throws RequestError `not_found`, `key_revoked`, or `invalid_parameter` for an unusable name or allow list.
   */
  update(id: number, changes: Partial<KeySettings>): KeyRecord {
    return this.durably(() => {
      const before = this.findUnrevoked(id);
      const { name, tier, expiresAt, allow } = storable({ ...toRecord(before), ...changes });
      this.db
        .prepare('UPDATE keys SET name = ?, tier = ?, expires_at = ?, allow = ? WHERE id = ?')
        .run(name, tier, expiresAt, allow, id);
      return { before, after: this.find(id) };
    });
  }

  /** All keys ever issued, oldest first. */
  list(): KeyRecord[] {
    return readKeyRows(this.db).map(toRecord);
  }

  /** The keys that are valid now, from memory. */
  valid(): Iterable<KeyRecord> {
    return this.byHash.values();
  }

  /** Invalidates a key for good. Revoking twice changes nothing. Throws RequestError `not_found`. */
  revoke(id: number): KeyRecord {
    return this.durably(() => {
      const before = this.find(id);
      this.db
        .prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')
        .run(Date.now(), id);
      return { before, after: this.find(id) };
    });
  }

  /**
   * Replaces the secret of a key: the old one is invalid from now on; id, name, tier, usage and quota stay.
   * Throws RequestError `not_found`, or `key_revoked` for a key that is no longer valid.
   */
  rotate(id: number): IssuedKey {
    const key = generateKey();
    const record = this.durably(() => {
      const before = this.findUnrevoked(id);
      const { hash, hint } = secretOf(key);
      this.db
        .prepare('UPDATE keys SET hash = ?, hint = ?, rotated_at = ? WHERE id = ?')
        .run(hash, hint, Date.now(), id);
      return { before, after: this.find(id) };
    });
    return { key, record };
  }

  /** The record of a valid key, or null. One Map lookup for a key in use, one SHA-256 for a new one. */
  verify(key: string): KeyRecord | null {
    const known = this.verified.get(key);
    if (known !== undefined) return known;
    if (key !== PUBLIC_KEY && !isWellFormedKey(key)) return null;
    const record =
      key === PUBLIC_KEY
        ? [...this.byHash.values()].find(({ id }) => id === this.publicKeyId)
        : this.byHash.get(hash('sha256', key, 'hex'));
    if (record === undefined) return null;
    this.verified.set(key, record);
    return record;
  }

  /**
   * Calls back with the ids of keys whose secret became invalid because it was revoked or rotated, here or by another
   * process. Returns a function that unsubscribes.
   */
  onInvalidated(listener: IdsListener): () => void {
    this.invalidatedListeners.add(listener);
    return () => this.invalidatedListeners.delete(listener);
  }

  /** Calls back with the ids of valid keys whose allow list was changed, here or by another process. */
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

  private findUnrevoked(id: number): KeyRow {
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
   * reported as revoked. Throws StorageError, with nothing changed, when the file cannot be written now or was moved away.
   * Everything that can fail comes before the commit: a valid key that was never shown is useless.
   */
  private durably(change: () => KeyChange): KeyRecord {
    this.fileIdentity.check();
    let changed: KeyChange;
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
    return this.apply(changed);
  }

  /** Applies an own change to memory without reading all keys again. */
  private apply({ before, after }: KeyChange): KeyRecord {
    const known = before === null ? undefined : this.byHash.get(digestOf(before));
    if (before !== null) this.byHash.delete(digestOf(before));
    const hasNewAllowList = changesAllowList(known, after); // before `known` takes the new values
    const record = Object.assign(known ?? {}, toRecord(after));
    const isValid = isValidAt(record, Date.now());
    if (isValid) this.byHash.set(digestOf(after), record);
    this.noteExpiries();
    this.verified.clear();
    const keptSecret = isValid && before !== null && digestOf(before) === digestOf(after);
    if (known !== undefined && !keptSecret) report(this.invalidatedListeners, [record.id]);
    else if (hasNewAllowList) report(this.allowListListeners, [record.id]);
    return record;
  }

  private noteExpiries(): void {
    const expiries = [...this.byHash.values()].map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY);
    this.nextExpiry = Math.min(Number.POSITIVE_INFINITY, ...expiries);
  }

  /** Reloads if another connection wrote to the file since the last check, or a key has expired. */
  reloadIfChanged(): void {
    try {
      const isChanged = this.db.pragma('data_version', { simple: true }) !== this.version;
      if (isChanged || Date.now() >= this.nextExpiry) this.reload();
      this.isUnreadable = false;
    } catch (error) {
      const translated = toKeysStorageError(error, this.db);
      if (!isFileFailure(translated)) throw translated;
      if (!this.isUnreadable) this.onUnreadable(translated);
      this.isUnreadable = true;
    }
  }

  private reload(): void {
    const version = this.db.pragma('data_version', { simple: true });
    const rows = this.db.prepare<[], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE revoked_at IS NULL`).all();
    this.version = version; // after the read, so that a failed read is repeated
    const before = this.byHash;
    const now = Date.now();
    const valid = rows.filter((row) => isValidAt(row, now));
    const withNewAllowList = valid.filter((row) => changesAllowList(before.get(digestOf(row)), row));
    this.byHash = new Map(
      valid.map((row) => [digestOf(row), Object.assign(before.get(digestOf(row)) ?? {}, toRecord(row))]),
    );
    this.noteExpiries();
    this.verified.clear();
    report(
      this.invalidatedListeners,
      [...before].filter(([digest]) => !this.byHash.has(digest)).map(([, record]) => record.id),
    );
    report(
      this.allowListListeners,
      withNewAllowList.map(({ id }) => id),
    );
  }
}

/** Whether a row changes the allow list of a key that was valid before it. */
function changesAllowList(known: KeyRecord | undefined, row: KeyRow): boolean {
  return known !== undefined && known.allow.join() !== row.allow;
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

/** Refuses changes of a cache: PostgreSQL and the other daemons would not learn of them. */
const CACHE_ONLY = new RequestError(
  409,
  'shared_keys',
  'this keys.db is a cache of keys in PostgreSQL: name the configuration that has access.postgres (--config, or ATLAS_ACCESS__POSTGRES)',
);

function digestOf({ hash }: KeyRow): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex');
}
