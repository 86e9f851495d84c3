/**
 * The tables of `keys.db`: keys and their usage. Unlike the index, this file cannot be rebuilt. A key itself is never
 * stored, only its SHA-256.
 */

/** `PRAGMA application_id` of a keys file: "atlk". */
export const KEYS_APPLICATION_ID = 0x61746c6b;

/** The schema this program writes; `PRAGMA user_version` of the file. */
export const KEYS_SCHEMA_VERSION = 2;

export const KEYS_SCHEMA_V1 = /* sql */ `
-- One row per key ever issued. A rotation keeps the row and replaces the secret, so usage and quota go on.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- what operators name a key by; never given twice
  hash BLOB NOT NULL UNIQUE,            -- SHA-256 of the whole key text, 32 bytes
  hint TEXT NOT NULL,                   -- the first characters of the key, to recognise it by
  name TEXT NOT NULL,                   -- whom it was issued to
  tier TEXT NOT NULL,                   -- name of a [tiers.*] table of the configuration
  created_at INTEGER NOT NULL,          -- Unix milliseconds, as the two below
  rotated_at INTEGER,                   -- when the present secret replaced the one before, else null
  revoked_at INTEGER                    -- null while the key is valid
);

-- Requests that were admitted, per key and calendar month.
CREATE TABLE usage (
  key INTEGER NOT NULL,                 -- keys.id
  month INTEGER NOT NULL,               -- year * 100 + month (1-12), UTC
  requests INTEGER NOT NULL,
  PRIMARY KEY (key, month)
) WITHOUT ROWID;
`;

/** Version 2: usage by hour, for charts. Quotas depend on `usage` alone. */
export const KEYS_SCHEMA_V2 = /* sql */ `
-- Requests that were admitted, per key and hour; those older than HISTORY_HOURS (usage.ts) make room for new ones.
CREATE TABLE usage_hours (
  hour INTEGER NOT NULL,                -- Unix time in whole hours
  key INTEGER NOT NULL,                 -- keys.id
  requests INTEGER NOT NULL,
  PRIMARY KEY (hour, key)
) WITHOUT ROWID;
`;
