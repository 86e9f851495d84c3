/**
 * Tiers, and their limits on REST requests, RPC calls and WebSocket messages together: a rate and a monthly quota per
 * key.
 */
import type { KeyRecord } from './key.ts';
import type { UsageCounter } from './usage.ts';

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

/** A key's remaining allowance, for the RateLimit-* headers; `reset` in seconds. */
export interface RateLimitStatus {
  limit: number;
  remaining: number;
  reset: number;
}

interface Admitted extends RateLimitStatus {
  ok: true;
}

export interface Refused extends RateLimitStatus {
  ok: false;
  code: 'rate_limited' | 'quota_exceeded';
  message: string;
  /** Whole seconds after which the same request is admitted, at least 1. */
  retryAfter: number;
  /** Like `retryAfter`, in milliseconds and not rounded up. */
  waitMs: number;
}

export type AdmissionResult = Admitted | Refused;

/** Limit and remaining of unlimited keys. The headers need a number, and clients read 32 bits. */
const UNLIMITED = 2 ** 31 - 1;

/**
 * Most requests of a burst: the 1,000 that stock clients put into one batch, plus a few of their own, such as
 * eth_chainId. Clients with smaller batches split the requests of an application (ethers: 100 calls each), so all
 * requests within BURST_MS of a large batch share its allowance.
 */
const MAX_BURST = 1_024;
const BURST_MS = 1_000;

/** Refused requests of a key that are each given a time of their own; further ones share the last. */
const MAX_RETURNS = 1_000;
/** After this long without any request, nobody is following the times given. */
const RETURNS_END_MS = 3_000;

/**
 * A token bucket for one second's worth of requests, in thousandths, so that each millisecond adds a whole number and
 * nothing is rounded. A batch larger than the bucket is admitted when the bucket is full and leaves it below zero until
 * the debt is paid, so the rate still holds over time.
 */
interface Bucket {
  milliTokens: number;
  /** Unix milliseconds up to which the bucket was refilled. */
  refilledAt: number;
  /** Unix milliseconds of the last burst's start, and how many requests may still join it. */
  burstStart: number;
  burstLeft: number;
  /** The earliest Unix milliseconds for the next refused request to return at. */
  nextReturn: number;
}

/** The inputs of a decision on a request. */
interface KeyState {
  tier: Tier;
  /** Unix milliseconds. */
  now: number;
  /** Infinity for a key without a quota. */
  quotaLeft: number;
  /** Null for a key without a rate. */
  bucket: Bucket | null;
}

export class Limiter {
  /** Replaceable at run time. Takes effect with the next request; usage and buckets stay. */
  tiers: Tiers;
  private readonly usage: UsageCounter;
  private readonly clock: () => number;
  /** By key id. */
  private readonly buckets = new Map<number, Bucket>();

  /** `clock` returns Unix milliseconds. */
  constructor(tiers: Tiers, usage: UsageCounter, clock: () => number = Date.now) {
    this.tiers = tiers;
    this.usage = usage;
    this.clock = clock;
  }

  /** The tier of a key. */
  tier(key: KeyRecord): Tier {
    return tierOf(this.tiers, key.tier);
  }

  /** The name of that tier. */
  tierName({ tier }: KeyRecord): string {
    return Object.hasOwn(this.tiers, tier) ? tier : FALLBACK_TIER;
  }

  /** Admits and counts all of `requests` or none. `ahead`: requests of the key queued before these. */
  take(key: KeyRecord, requests: number, ahead = 0): AdmissionResult {
    const state = this.stateOf(key);
    const refused = this.check(state, requests, ahead);
    if (refused !== null) return refused;
    if (state.bucket !== null) spend(state.bucket, state.tier.requests_per_second, requests, state.now);
    this.usage.add(key.id, requests, state.now);
    state.quotaLeft -= requests;
    return this.admitted(state);
  }

  /** Like `take`, for requests that do not wait here: the times to return at are spread. */
  admit(key: KeyRecord, requests: number): AdmissionResult {
    const admission = this.take(key, requests);
    return admission.ok ? admission : this.spread(key, admission, requests);
  }

  /**
   * Spreads the retries of refused requests at the rate of the key. If all returned at once, most would be refused
   * again until their client gives up.
   */
  spread(key: KeyRecord, refused: Refused, requests: number): Refused {
    const bucket = this.buckets.get(key.id);
    if (refused.code !== 'rate_limited' || bucket === undefined) return refused;
    const now = this.clock();
    const returnAt = Math.max(now + refused.waitMs, bucket.nextReturn);
    const msPerRequest = 1000 / refused.limit;
    bucket.nextReturn = Math.min(returnAt + requests * msPerRequest, now + MAX_RETURNS * msPerRequest);
    const waitMs = Math.ceil(returnAt - now);
    return { ...refused, waitMs, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) };
  }

  /** Why no request is admitted now, or null. Counts nothing. */
  refusal(key: KeyRecord): Refused | null {
    return this.check(this.stateOf(key), 1, 0);
  }

  private stateOf(key: KeyRecord): KeyState {
    const tier = this.tier(key);
    const now = this.clock();
    const quota = tier.requests_per_month;
    const rate = tier.requests_per_second;
    return {
      tier,
      now,
      quotaLeft: quota === 0 ? Number.POSITIVE_INFINITY : Math.max(0, quota - this.usage.used(key.id, now)),
      bucket: rate === 0 ? null : this.refill(key.id, rate, now),
    };
  }

  private check({ tier, now, quotaLeft, bucket }: KeyState, requests: number, ahead: number): Refused | null {
    if (requests > quotaLeft) return this.overQuota(tier, quotaLeft, requests, now);
    if (bucket === null || (ahead === 0 && joinsBurst(bucket, requests, now))) return null;
    const rate = tier.requests_per_second;
    const missing = (ahead + Math.min(requests, rate)) * 1000 - bucket.milliTokens;
    return missing <= 0 ? null : overRate(bucket, rate, requests, missing);
  }

  private refill(id: number, rate: number, now: number): Bucket {
    const full = rate * 1000;
    let bucket = this.buckets.get(id);
    if (bucket === undefined) {
      bucket = { milliTokens: full, refilledAt: now, burstStart: 0, burstLeft: 0, nextReturn: 0 };
      this.buckets.set(id, bucket);
    }
    const elapsed = Math.max(0, now - bucket.refilledAt);
    if (elapsed >= RETURNS_END_MS) bucket.nextReturn = 0;
    bucket.milliTokens = Math.min(full, bucket.milliTokens + elapsed * rate);
    bucket.refilledAt = now;
    return bucket;
  }

  /** Reports the tighter of rate and quota. */
  private admitted({ tier, now, quotaLeft, bucket }: KeyState): Admitted {
    const rate = tier.requests_per_second;
    const inBucket = bucket === null ? Number.POSITIVE_INFINITY : wholeTokens(bucket);
    if (quotaLeft < inBucket) {
      const reset = this.secondsLeftInMonth(now);
      return { ok: true, limit: tier.requests_per_month, remaining: quotaLeft, reset };
    }
    if (bucket === null) return { ok: true, limit: UNLIMITED, remaining: UNLIMITED, reset: 0 };
    return { ok: true, limit: rate, remaining: inBucket, reset: secondsUntilFull(bucket, rate) };
  }

  /** `left` is below `requests` but may exceed zero; then smaller batches are still admitted. */
  private overQuota(tier: Tier, left: number, requests: number, now: number): Refused {
    const reset = this.secondsLeftInMonth(now);
    const quota = `the monthly quota of ${tier.requests_per_month} requests`;
    return {
      ok: false,
      code: 'quota_exceeded',
      message:
        left > 0
          ? `a batch of ${requests} exceeds what is left of ${quota}; send at most ${left} at once`
          : `${quota} is used up; it resets with the next month (UTC)`,
      retryAfter: reset,
      waitMs: reset * 1000,
      limit: tier.requests_per_month,
      remaining: left,
      reset,
    };
  }

  private secondsLeftInMonth(now: number): number {
    return Math.max(1, Math.ceil((this.usage.monthEndsAt - now) / 1000));
  }
}

function joinsBurst({ burstStart, burstLeft }: Bucket, requests: number, now: number): boolean {
  return requests <= burstLeft && now >= burstStart && now < burstStart + BURST_MS;
}

/** Takes admitted requests out of the bucket. A batch larger than the bucket starts a burst. */
function spend(bucket: Bucket, rate: number, requests: number, now: number): void {
  if (joinsBurst(bucket, requests, now)) bucket.burstLeft -= requests;
  else if (requests > rate) {
    bucket.burstStart = now;
    bucket.burstLeft = MAX_BURST - requests;
  }
  bucket.milliTokens -= requests * 1000;
}

/** `missing`: thousandths of a request that the bucket lacks. */
function overRate(bucket: Bucket, rate: number, requests: number, missing: number): Refused {
  const waitMs = Math.ceil(missing / rate);
  const message = `more than ${rate} requests per second`;
  return {
    ok: false,
    code: 'rate_limited',
    message:
      requests > rate
        ? `${message}; a batch of ${requests} is served once earlier calls are paid off`
        : message,
    retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
    waitMs,
    limit: rate,
    remaining: wholeTokens(bucket),
    reset: secondsUntilFull(bucket, rate),
  };
}

function wholeTokens({ milliTokens }: Bucket): number {
  return Math.max(0, Math.floor(milliTokens / 1000));
}

function secondsUntilFull(bucket: Bucket, rate: number): number {
  return Math.ceil((rate * 1000 - bucket.milliTokens) / rate / 1000);
}
