/** Warnings about the keys: that none is valid, or that some are of a tier that is not configured. */
import type { Access } from '../access/access.ts';
import { FALLBACK_TIER } from '../access/tiers.ts';
import type { Logger } from '../log.ts';

/** Logs if no key is valid, and each tier of valid keys that is not configured, such as a renamed or mistyped one. */
export function warnAboutKeys(
  { keys, limiter }: Pick<Access, 'keys' | 'limiter'>,
  dataDir: string,
  log: Logger,
): void {
  const valid = [...keys.valid()];
  if (valid.length === 0) {
    const create = `atlas-node keys create --name app --tier growth --data-dir ${dataDir}`;
    log.warn({ create }, 'no key is valid, so every request is refused: create one');
  }
  const unknown = new Map<string, number>();
  for (const { tier } of valid) {
    if (!Object.hasOwn(limiter.tiers, tier)) unknown.set(tier, (unknown.get(tier) ?? 0) + 1);
  }
  for (const [tier, count] of unknown) {
    log.warn({ tier, keys: count, limits: FALLBACK_TIER }, 'keys are of a tier that is not configured');
  }
}
