/** Tiers: the limits of a key. */

/** One `[tiers.*]` table of the configuration. */
export interface Tier {
  /** Requests per calendar month (UTC), 0 for unlimited. */
  requests_per_month: number;
  /** Requests per second, 0 for unlimited. A whole number. */
  requests_per_second: number;
  /** Largest `depth` of funding_chain. */
  chain_depth: number;
}

/** The `[tiers.*]` tables by name. */
export type Tiers = Readonly<Record<string, Tier>>;

/** The tier that is always configured. It applies to keys of unconfigured tiers. */
export const FALLBACK_TIER = 'free';

/**
 * The tier with this name, or the free one if it is no longer configured: a key survives a change of the configuration
 * but must not gain from it.
 */
export function tierOf(tiers: Tiers, name: string): Tier {
  const tier = Object.hasOwn(tiers, name) ? tiers[name] : tiers[FALLBACK_TIER];
  if (tier === undefined) throw new Error(`the configuration has no [tiers.${FALLBACK_TIER}]`);
  return tier;
}
