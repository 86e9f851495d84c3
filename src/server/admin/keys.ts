/** Keys and usage for the panel. */
import * as z from 'zod';
import type { Access } from '../../access/access.ts';
import { type IssuedKey, keyJson, monthText } from '../../access/key.ts';
import { type Tiers, tierOf } from '../../access/limiter.ts';
import { HISTORY_HOURS, HOUR_MS } from '../../access/usage.ts';
import { sumUsageByHour, sumUsageByMonth } from '../../access/usage-tables.ts';
import { RequestError } from '../../lib/errors.ts';

const MAX_HISTORY_DAYS = HISTORY_HOURS / 24;

export type AdminAccess = Pick<Access, 'keys' | 'changes' | 'usage' | 'limiter'>;

type IssuedJson = ReturnType<typeof issuedJson>;

const expiry = z.iso.datetime().nullable();
const newKeySchema = z.object({
  name: z.string(),
  tier: z.string(),
  expiresAt: expiry.optional(),
  allow: z.array(z.string()).optional(),
});
const changeSchema = newKeySchema.partial();

/** All keys with their usage this month, and the tiers to choose from. */
export function listKeys({ keys, usage, limiter: { tiers } }: AdminAccess, now: number) {
  return {
    tiers: Object.entries(tiers).map(([name, tier]) => ({
      name,
      requestsPerMonth: tier.requests_per_month,
      requestsPerSecond: tier.requests_per_second,
      chainDepth: tier.chain_depth,
    })),
    keys: keys.list().map((record) => ({
      ...keyJson(record),
      lastUsedAt: isoOrNull(usage.lastUse(record.id)),
      requestsThisMonth: usage.used(record.id, now),
      requestsPerMonth: tierOf(tiers, record.tier).requests_per_month,
    })),
    monthEndsAt: new Date(usage.monthEndsAt).toISOString(),
  };
}

/** Issues a key from a JSON body. Throws RequestError for an invalid body. */
export async function createKey(
  { changes, limiter: { tiers } }: AdminAccess,
  body: unknown,
): Promise<IssuedJson> {
  const parsed = newKeySchema.safeParse(body);
  if (!parsed.success)
    throw new RequestError(
      400,
      'invalid_body',
      'send {"name": "...", "tier": "...", "expiresAt": time or null, "allow": ["GET /api/*", "eth_call"]}',
    );
  const { name, tier, expiresAt = null, allow } = parsed.data;
  requireTier(tiers, tier);
  return issuedJson(
    await changes.create({ name, tier, expiresAt: expiresAt === null ? null : Date.parse(expiresAt), allow }),
  );
}

/** Changes the fields present in a JSON body. Throws RequestError for an invalid body. */
export async function updateKey({ changes, limiter: { tiers } }: AdminAccess, id: number, body: unknown) {
  const parsed = changeSchema.safeParse(body);
  if (!parsed.success)
    throw new RequestError(
      400,
      'invalid_body',
      'send any of "name", "tier", "expiresAt" (a time or null) and "allow" (a list)',
    );
  const { name, tier, expiresAt, allow } = parsed.data;
  if (tier !== undefined) requireTier(tiers, tier);
  const record = await changes.update(id, {
    ...(name !== undefined && { name }),
    ...(tier !== undefined && { tier }),
    ...(allow !== undefined && { allow }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : Date.parse(expiresAt) }),
  });
  return { record: keyJson(record) };
}

function requireTier(tiers: Tiers, tier: string): void {
  if (!Object.hasOwn(tiers, tier)) {
    throw new RequestError(400, 'invalid_parameter', `there is no tier "${tier}"`, 'tier');
  }
}

export async function rotateKey({ changes }: AdminAccess, id: number) {
  return issuedJson(await changes.rotate(id));
}

export async function revokeKey({ changes }: AdminAccess, id: number) {
  return { record: keyJson(await changes.revoke(id)) };
}

/**
 * Requests per hour over the last days and per month, of one key or all. Omits hours without requests, and future
 * hours, counted while the clock was wrong.
 */
export function usageHistory(
  { keys, usage }: Pick<AdminAccess, 'keys' | 'usage'>,
  query: { key: number | null; days: number },
  now: number,
) {
  const days = Math.min(MAX_HISTORY_DAYS, Math.max(1, query.days));
  const toHour = Math.floor(now / HOUR_MS);
  const fromHour = toHour - days * 24 + 1;
  const key = query.key ?? undefined;
  usage.flush();
  const hours = sumUsageByHour(keys.db, fromHour, key).filter(({ hour }) => hour <= toHour);
  return {
    from: isoHour(fromHour),
    to: isoHour(toHour),
    hours: hours.map(({ hour, requests }) => ({ at: isoHour(hour), requests })),
    months: sumUsageByMonth(keys.db, key).map(({ month, requests }) => ({
      month: monthText(month),
      requests,
    })),
  };
}

function issuedJson({ key, record }: IssuedKey) {
  return { key, record: keyJson(record) };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function isoHour(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString();
}
