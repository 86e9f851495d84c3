/**
 * `hooks.db`: hooks, their cursors and lists of addresses. Like `keys.db` it cannot be rebuilt, and daemon and command
 * line may have it open at the same time. It holds the secrets that sign deliveries.
 */

import { chmodSync, existsSync } from 'node:fs';
import { FatalError, RequestError } from '../lib/errors.ts';
import { bytesToDigits } from '../lib/hex.ts';
import { settingName } from '../lib/setting-name.ts';
import { type Db, isEmpty, openDatabase } from '../store/open-database.ts';
import { toOpenError, toStorageError } from '../store/storage-error.ts';

/** `PRAGMA application_id` of a hooks file: "atlh". */
const HOOKS_APPLICATION_ID = 0x61746c68;

const SCHEMA_VERSION = 4;

const SCHEMA_V1 = /* sql */ `
-- One row per hook. The cursor is how far the receiver has accepted events.
CREATE TABLE hooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: delivery ids are derived from it
  name TEXT NOT NULL,
  key INTEGER,                           -- keys.id of the owner in keys.db, null for the operator
  url TEXT NOT NULL,                     -- may contain a secret (Slack, Telegram); never logged
  format TEXT NOT NULL,                  -- json, slack, discord, telegram
  chat TEXT,                             -- Telegram: the chat to post to
  secret TEXT NOT NULL,                  -- whsec_... of Standard Webhooks
  filter TEXT NOT NULL,                  -- JSON, as for atlas_subscribe
  confirmations INTEGER NOT NULL,        -- blocks that must stand on the block of an event
  finality INTEGER NOT NULL,             -- 1: only final blocks (model/finality.ts)
  state TEXT NOT NULL,                   -- active or paused
  reason TEXT,                           -- why it is paused
  created_at INTEGER NOT NULL,           -- Unix milliseconds, as all times here
  cursor_block INTEGER NOT NULL,
  cursor_hash BLOB,                      -- of that block; null if the index did not have it yet
  cursor_position INTEGER,               -- transfers of that block that are done; null: the whole block
  failing_since INTEGER,                 -- first of the failures in a row
  failures INTEGER NOT NULL DEFAULT 0,   -- in a row
  next_attempt_at INTEGER,
  last_error TEXT,
  last_success_at INTEGER,
  delivered INTEGER NOT NULL DEFAULT 0,  -- events accepted
  test_requested_at INTEGER,             -- a test that the daemon is to send
  test_result TEXT                       -- what came of the last one
);

-- Events that were sent, accepted or not, and may still be withdrawn by a reorg: the index will not have them then.
-- Rows of blocks too old for that are deleted.
CREATE TABLE revocable (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order of delivery
  hook INTEGER NOT NULL,
  block INTEGER NOT NULL,
  hash BLOB NOT NULL,
  withdrawn INTEGER NOT NULL,            -- 1 once the withdrawal has begun, even if the block comes back
  events TEXT NOT NULL                   -- JSON: events of the block that were sent together
);
CREATE INDEX revocable_by_hook ON revocable (hook, block);

-- Lists of addresses that filters name.
CREATE TABLE lists (
  name TEXT PRIMARY KEY,
  imported_at INTEGER NOT NULL,
  addresses BLOB NOT NULL                -- 20 bytes each
) WITHOUT ROWID;
`;

const SCHEMA_V2 = /* sql */ `
-- Blocks that the hook passed before cursor_block, as far as a reorg may go back (trail-bytes.ts); null: not known.
ALTER TABLE hooks ADD COLUMN trail BLOB;
-- JSON: [{secret, until}], replaced secrets that still sign; null: none.
ALTER TABLE hooks ADD COLUMN old_secrets TEXT;
`;

const SCHEMA_V3 = /* sql */ `
-- The mark of the index (model/rewrites.ts) when the cursor came to its block.
ALTER TABLE hooks ADD COLUMN mark TEXT NOT NULL DEFAULT '0';
-- The first block whose events the hook gets; null: not known.
ALTER TABLE hooks ADD COLUMN first_block INTEGER;
`;

const SCHEMA_V4 = /* sql */ `
-- Final events that were accepted: a repair may read their blocks again and find others. The newest, within bounds.
CREATE TABLE IF NOT EXISTS settled (
  id INTEGER PRIMARY KEY,                -- in the order of delivery
  hook INTEGER NOT NULL,
  block INTEGER NOT NULL,
  doubtful INTEGER NOT NULL,             -- 1 from a repair of the block until the hook has passed the block again
  events BLOB NOT NULL                   -- deflated JSON: events of the block that were sent together
);
CREATE INDEX IF NOT EXISTS settled_by_hook ON settled (hook, block);
CREATE INDEX IF NOT EXISTS settled_doubtful ON settled (hook, block) WHERE doubtful = 1;
`;

/** The SQL from each version to the next, starting from an empty file. Append only. */
const MIGRATIONS = [SCHEMA_V1, SCHEMA_V2, SCHEMA_V3, SCHEMA_V4];

/** Advice for a damaged file. */
export const HOOKS_ADVICE = 'restore a copy of it, or move it away and create the hooks again';

/** Only the operator's account may read the file, because it holds secrets. */
const FILE_MODE = 0o600;

/** Opens `hooks.db` and creates it if missing. Throws FatalError when the file is not a usable hooks file. */
export function openHooksFile(path: string): Db {
  let db: Db | undefined;
  try {
    const isNew = !existsSync(path);
    db = openDatabase(path, { cacheMb: 2 });
    if (isNew) chmodSync(path, FILE_MODE);
    prepare(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw toOpenError(path, error, HOOKS_ADVICE);
  }
}

/** Under the write lock, because two processes may create the file at once. */
function prepare(db: Db, path: string): void {
  db.transaction(() => {
    const application = Number(db.pragma('application_id', { simple: true }));
    const version = Number(db.pragma('user_version', { simple: true }));
    const isHooksFile = application === HOOKS_APPLICATION_ID;
    if (isHooksFile && version === SCHEMA_VERSION) return;
    if (isHooksFile && version > SCHEMA_VERSION)
      throw new FatalError(`${path} was written by a newer atlas-node (schema ${version}); run that version`);
    if (!isHooksFile && (application !== 0 || !isEmpty(db)))
      throw new FatalError(
        `${path} does not hold atlas-node hooks; move it away or choose another ${settingName('data_dir')}`,
      );
    for (const migration of MIGRATIONS.slice(isHooksFile ? version : 0)) db.exec(migration);
    db.pragma(`application_id = ${HOOKS_APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

/** Most addresses per list, and over all lists. */
const MAX_LIST_ADDRESSES = 100_000;
const MAX_STORED_ADDRESSES = 1_000_000;

/** Named lists of addresses, for the filters of hooks and streams. */
export class AddressLists {
  private readonly db: Db;
  private readonly cached = new Map<string, { version: number; addresses: WeakRef<ReadonlySet<string>> }>();

  constructor(db: Db) {
    this.db = db;
  }

  /** Creates or replaces a list. `addresses` are 40 hex digits each. Throws RequestError. */
  import(name: string, addresses: ReadonlySet<string>): void {
    if (!/^[\w.-]{1,64}$/.test(name))
      throw new RequestError(
        400,
        'invalid_params',
        'the name of a list has 1 to 64 letters, digits, ".", "-" or "_"',
      );
    if (addresses.size === 0 || addresses.size > MAX_LIST_ADDRESSES)
      throw new RequestError(400, 'invalid_params', `a list has 1 to ${MAX_LIST_ADDRESSES} addresses`);
    const stored = this.list().filter((list) => list.name !== name);
    const total = stored.reduce((sum, { addresses }) => sum + addresses, addresses.size);
    if (total > MAX_STORED_ADDRESSES)
      throw new RequestError(
        400,
        'invalid_params',
        `all lists together have at most ${MAX_STORED_ADDRESSES} addresses`,
      );
    const bytes = Buffer.from([...addresses].join(''), 'hex');
    try {
      this.db
        .prepare('REPLACE INTO lists (name, imported_at, addresses) VALUES (?, ?, ?)')
        .run(name, Date.now(), bytes);
    } catch (error) {
      throw toStorageError(error, this.db.name, HOOKS_ADVICE);
    }
  }

  list(): { name: string; addresses: number; importedAt: number }[] {
    return this.db
      .prepare<[], { name: string; addresses: number; importedAt: number }>(
        'SELECT name, length(addresses) / 20 AS addresses, imported_at AS importedAt FROM lists ORDER BY name',
      )
      .all();
  }

  /** Throws RequestError `not_found`, or `list_in_use` while a hook uses the list. */
  remove(name: string): void {
    const user = this.db
      .prepare<[], { id: number; name: string; filter: string }>(
        'SELECT id, name, filter FROM hooks ORDER BY id',
      )
      .all()
      .find(({ filter }) => JSON.parse(filter).wallets === `list:${name}`);
    if (user !== undefined)
      throw new RequestError(409, 'list_in_use', `hook ${user.id} (${user.name}) uses the list "${name}"`);
    const { changes } = this.db.prepare('DELETE FROM lists WHERE name = ?').run(name);
    if (changes === 0) throw new RequestError(404, 'not_found', `there is no list "${name}"`);
  }

  /** Import time of a list, Unix milliseconds. */
  private version(name: string): number | undefined {
    return this.db
      .prepare<[string], number>('SELECT imported_at FROM lists WHERE name = ?')
      .pluck()
      .get(name);
  }

  /** The addresses of a list, 40 hex digits each; undefined if no list has this name. */
  read(name: string): ReadonlySet<string> | undefined {
    const bytes = this.db
      .prepare<[string], Buffer>('SELECT addresses FROM lists WHERE name = ?')
      .pluck()
      .get(name);
    if (bytes === undefined) return undefined;
    const addresses = new Set<string>();
    for (let at = 0; at < bytes.length; at += 20) addresses.add(bytesToDigits(bytes.subarray(at, at + 20)));
    return addresses;
  }

  /** Like `read`, but subscriptions to the same list share one set. */
  readonly get = (name: string): ReadonlySet<string> | undefined => {
    const version = this.version(name);
    const cached = this.cached.get(name);
    const addresses = cached?.version === version ? cached?.addresses.deref() : undefined;
    if (addresses !== undefined) return addresses;
    this.cached.delete(name);
    const read = version === undefined ? undefined : this.read(name);
    if (read !== undefined && version !== undefined)
      this.cached.set(name, { version, addresses: new WeakRef(read) });
    return read;
  };
}
