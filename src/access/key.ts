/**
 * An API key: its record, its stored form, where it may be changed, and its format: `atlas_`, 32 random base62
 * characters (190 bits), 6 base62 characters of checksum. The checksum lets us refuse a mistyped or invented key
 * without hashing it, and lets secret scanners recognise a real one.
 */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { RequestError } from '../lib/errors.ts';
import { type AllowList, allowList } from './allow-list.ts';

const MAX_NAME_CHARS = 200;
/** Refused in names: control characters break table lines or control the terminal. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** A key without its secret. Times are Unix milliseconds. */
export interface KeyRecord {
  id: number;
  /** First characters of the key. */
  hint: string;
  name: string;
  tier: string;
  createdAt: number;
  rotatedAt: number | null;
  revokedAt: number | null;
  /** The key is invalid from this time; null if it does not expire. */
  expiresAt: number | null;
  /** What the key may use; empty for everything. */
  allow: AllowList;
}

/** What an operator may change about a key. */
export type KeySettings = Pick<KeyRecord, 'name' | 'tier' | 'expiresAt' | 'allow'>;

/** By default a new key does not expire and may use everything. */
export type NewKeySettings = Pick<KeySettings, 'name' | 'tier'> & Partial<KeySettings>;

/** A key just issued. `key` is shown to the operator once and never stored. */
export interface IssuedKey {
  key: string;
  record: KeyRecord;
}

/** A key as it is stored. */
export type KeyRow = Omit<KeyRecord, 'allow'> & { hash: Uint8Array; allow: string };

/** Where keys are issued and changed: this file, or PostgreSQL, whose answers take time. */
export interface KeyChanges {
  create(settings: NewKeySettings): IssuedKey | Promise<IssuedKey>;
  update(id: number, changes: Partial<KeySettings>): KeyRecord | Promise<KeyRecord>;
  rotate(id: number): IssuedKey | Promise<IssuedKey>;
  revoke(id: number): KeyRecord | Promise<KeyRecord>;
}

export function keyRevoked(id: number): RequestError {
  return new RequestError(409, 'key_revoked', `key ${id} is revoked; create a new one instead`);
}

export function noSuchKey(id: number): RequestError {
  return new RequestError(404, 'not_found', `there is no key ${id}`);
}

/** The stored form of a key's text. */
export function secretOf(key: string): { hash: Buffer; hint: string } {
  return { hash: hash('sha256', key, 'buffer'), hint: keyHint(key) };
}

/** Settings in their stored form. Throws RequestError `invalid_parameter` for an invalid name or allow list. */
export function storable({ name, tier, expiresAt = null, allow = [] }: NewKeySettings) {
  return { name: keyName(name), tier, expiresAt, allow: allowList(allow).join() };
}

/**
 * Settings of a new key in their stored form. Throws RequestError `invalid_parameter` for what `storable` rejects, and
 * for an expiry in the past: such a key would be shown once and never work.
 */
export function storableNew(settings: NewKeySettings, now = Date.now()) {
  const stored = storable(settings);
  if (stored.expiresAt === null || stored.expiresAt > now) return stored;
  const time = new Date(stored.expiresAt).toISOString();
  throw new RequestError(
    400,
    'invalid_parameter',
    `the expiry ${time} is in the past: a new key needs one in the future, or none`,
    'expiresAt',
  );
}

/** The name without surrounding spaces. Throws RequestError `invalid_parameter` for an invalid name. */
export function keyName(given: string): string {
  const name = given.trim();
  if (name !== '' && name.length <= MAX_NAME_CHARS && !CONTROL_CHARACTER.test(name)) return name;
  throw new RequestError(
    400,
    'invalid_parameter',
    `a key's name has 1 to ${MAX_NAME_CHARS} characters, and no control characters among them`,
    'name',
  );
}

export function toRecord({ hash: _, allow, ...record }: KeyRow): KeyRecord {
  return { ...record, allow: allow === '' ? [] : allow.split(',') };
}

/** A record with its times in ISO 8601, or null. */
export function keyJson({ createdAt, rotatedAt, revokedAt, expiresAt, ...record }: KeyRecord) {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    ...record,
    createdAt: iso(createdAt),
    rotatedAt: iso(rotatedAt),
    revokedAt: iso(revokedAt),
    expiresAt: iso(expiresAt),
  };
}

/** `2026-11` of 202611. */
export function monthText(month: number): string {
  return `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;
}

const PREFIX = 'atlas_';
const RANDOM_CHARS = 32;
const CHECKSUM_CHARS = 6;
const BODY_END = PREFIX.length + RANDOM_CHARS;
const KEY_CHARS = BODY_END + CHECKSUM_CHARS;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Larger bytes are redrawn: 248 is the largest multiple of 62 in a byte, so every character is equally likely. */
const UNBIASED_BYTES = 248;

/** Sent by the pages in place of a key if visitors need none (`server.public_explorer`). */
export const PUBLIC_KEY = 'public';

/** A new random key. */
export function generateKey(): string {
  let body = PREFIX;
  while (body.length < BODY_END) {
    for (const byte of randomBytes(BODY_END - body.length)) {
      if (byte < UNBIASED_BYTES) body += BASE62[byte % 62];
    }
  }
  return body + checksum(body);
}

/** Whether the text has the format and checksum of a key, issued or not. */
export function isWellFormedKey(text: string): boolean {
  return (
    text.length === KEY_CHARS &&
    text.startsWith(PREFIX) &&
    checksum(text.slice(0, BODY_END)) === text.slice(BODY_END)
  );
}

/** The part of a key that may be shown in lists and logs. */
export function keyHint(key: string): string {
  return key.slice(0, PREFIX.length + 4);
}

/** CRC-32 of the text, in base62. */
function checksum(body: string): string {
  let rest = crc32(body);
  let out = '';
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    out = BASE62[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}
