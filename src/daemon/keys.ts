/** Keys of tiers that the configuration has not. */
import type { Access } from '../access/access.ts';
import { FALLBACK_TIER } from '../access/tiers.ts';
import type { Logger } from '../log.ts';

/** Logs how many keys are of which tier that is not configured, such as one that was renamed or mistyped. */
export function warnOfUnknownTiers({ keys, limiter }: Pick<Access, 'keys' | 'limiter'>, log: Logger): void {
  const unknown = new Map<string, number>();
  for (const { tier } of keys.valid()) {
    if (!Object.hasOwn(limiter.tiers, tier)) unknown.set(tier, (unknown.get(tier) ?? 0) + 1);
  }
  for (const [tier, count] of unknown) {
    log.warn({ tier, keys: count, limits: FALLBACK_TIER }, 'keys are of a tier that is not configured');
  }
}
