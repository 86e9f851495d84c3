/** Keys and months in JSON form, for the command line and the panel. */
import type { KeyRecord } from './keys.ts';

/** A record with its times in ISO 8601, or null. */
export function keyJson({ createdAt, rotatedAt, revokedAt, ...record }: KeyRecord) {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return { ...record, createdAt: iso(createdAt), rotatedAt: iso(rotatedAt), revokedAt: iso(revokedAt) };
}

/** `2026-11` of 202611. */
export function monthText(month: number): string {
  return `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;
}
