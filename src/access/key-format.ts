/**
 * The format of a key: `atlas_`, 32 random base62 characters (190 bits), 6 base62 characters of checksum. The checksum
 * lets us refuse a mistyped or invented key without hashing it, and lets secret scanners recognise a real one.
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

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
