/** Keys in words. */
import { dateTime, grouped, safeName } from '../../ui/format.ts';
import type { AdminAnswers } from '../admin-api.ts';

export type KeyList = AdminAnswers['keys'];
export type ListedKey = KeyList['keys'][number];

/** Most characters of a name shown. Operators' names for keys are longer than token symbols. */
export const NAME_CHARS = 60;

export function keyName({ name }: ListedKey): string {
  return safeName(name, NAME_CHARS);
}

export type KeyState = 'valid' | 'revoked' | 'expired';

export function keyState({ revokedAt, expiresAt }: ListedKey, now = Date.now()): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid';
}

/** The last event of the key. */
export function keyEvent(key: ListedKey): string {
  const [text, at] =
    key.revokedAt !== null
      ? ['revoked', key.revokedAt]
      : keyState(key) === 'expired'
        ? ['expired', key.expiresAt]
        : key.rotatedAt !== null
          ? ['rotated', key.rotatedAt]
          : ['created', key.createdAt];
  return `${text} ${dateTime(at ?? '').slice(0, 16)}`;
}

/** The searchable text of a key, in lower case. */
export function searchText(key: ListedKey): string {
  const { id, hint, tier, allow } = key;
  return [id, keyName(key), hint, tier, keyState(key), ...allow].join(' ').toLowerCase();
}

export function tierText({ name, requestsPerMonth, requestsPerSecond }: KeyList['tiers'][number]): string {
  const month = requestsPerMonth === 0 ? 'no quota' : `${grouped(requestsPerMonth)} a month`;
  const second = requestsPerSecond === 0 ? 'no rate limit' : `${grouped(requestsPerSecond)} a second`;
  return `${name}: ${month}, ${second}`;
}

/** The value of a date-and-time field, which has no zone and counts as UTC. */
export function fieldOfTime(iso: string | null): string {
  return iso?.slice(0, 16) ?? '';
}

export function timeOfField(value: string): string | null {
  return value === '' ? null : `${value}:00.000Z`;
}

/** One entry per line. */
export function allowOfField(value: string): string[] {
  return value.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
