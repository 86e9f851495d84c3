/** The one limiter of REST, RPC calls and WebSocket messages: a rate and a monthly quota per key. */
import type { KeyRecord } from './keys.ts';
import { type Tier, type Tiers, tierOf } from './tiers.ts';
import type { UsageCounter } from './usage.ts';

/** What a key has left, for the RateLimit-* headers; `reset` in seconds. */
export interface RateLimitStatus {
  limit: number;
  remaining: number;
  reset: number;
}

export interface Admitted extends RateLimitStatus {
  ok: true;
}

export interface Refused extends RateLimitStatus {
  ok: false;
  code: 'rate_limited' | 'quota_exceeded';
  message: string;
  /** Whole seconds to wait, at least 1. */
  retryAfter: number;
}

export type AdmissionResult = Admitted | Refused;

/** Limit and remaining shown for unlimited keys: the headers need a number, and clients read 32 bits. */
const UNLIMITED = 2 ** 31 - 1;

/**
 * A bucket of one second's worth of requests, counted in thousandths, so that each millisecond adds a whole number of
 * them and nothing is ever rounded.
 */
interface Bucket {
  milliTokens: number;
  /** Unix milliseconds up to which the bucket was refilled. */
  refilledAt: number;
}

/** What decides on a request of a key. */
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
  /** May be replaced, effective from the next request on; usage and buckets of keys stay. */
  tiers: Tiers;
  private readonly usage: UsageCounter;
  private readonly clock: () => number;
  /** By key id; one per key in use. */
  private readonly buckets = new Map<number, Bucket>();

  /** `clock` gives Unix milliseconds. */
  constructor(tiers: Tiers, usage: UsageCounter, clock: () => number = Date.now) {
    this.tiers = tiers;
    this.usage = usage;
    this.clock = clock;
  }

  /** The tier of a key. */
  tier(key: KeyRecord): Tier {
    return tierOf(this.tiers, key.tier);
  }

  /** Admits and counts all of `requests`, or none. */
  take(key: KeyRecord, requests: number): AdmissionResult {
    const state = this.stateOf(key);
    const refused = this.check(state, requests);
    if (refused !== null) return refused;
    if (state.bucket !== null) state.bucket.milliTokens -= requests * 1000;
    this.usage.add(key.id, requests, state.now);
    state.quotaLeft -= requests;
    return { ok: true, ...this.rateLimitStatus(state) };
  }

  /** Why not even one request is admitted now, or null. Counts nothing. */
  refusal(key: KeyRecord): Refused | null {
    return this.check(this.stateOf(key), 1);
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

  private check({ tier, now, quotaLeft, bucket }: KeyState, requests: number): Refused | null {
    if (requests > quotaLeft) return this.overQuota(tier, quotaLeft, requests, now);
    if (bucket === null || bucket.milliTokens >= requests * 1000) return null;
    return overRate(bucket, tier.requests_per_second, requests);
  }

  private refill(id: number, rate: number, now: number): Bucket {
    const full = rate * 1000;
    let bucket = this.buckets.get(id);
    if (bucket === undefined) {
      bucket = { milliTokens: full, refilledAt: now };
      this.buckets.set(id, bucket);
    }
    const elapsed = Math.max(0, now - bucket.refilledAt);
    bucket.milliTokens = Math.min(full, bucket.milliTokens + elapsed * rate);
    bucket.refilledAt = now;
    return bucket;
  }

  /** Shows whichever of rate and quota leaves less. */
  private rateLimitStatus({ tier, now, quotaLeft, bucket }: KeyState): RateLimitStatus {
    const rate = tier.requests_per_second;
    const inBucket = bucket === null ? Number.POSITIVE_INFINITY : Math.floor(bucket.milliTokens / 1000);
    if (quotaLeft < inBucket) {
      return { limit: tier.requests_per_month, remaining: quotaLeft, reset: this.secondsLeftInMonth(now) };
    }
    if (bucket === null) return { limit: UNLIMITED, remaining: UNLIMITED, reset: 0 };
    return { limit: rate, remaining: inBucket, reset: secondsUntilFull(bucket, rate) };
  }

  /** `left` is fewer than `requests`, but need not be none: then fewer at once are admitted still. */
  private overQuota(tier: Tier, left: number, requests: number, now: number): Refused {
    const reset = this.secondsLeftInMonth(now);
    const quota = `the monthly quota of ${tier.requests_per_month} requests`;
    return {
      ok: false,
      code: 'quota_exceeded',
      message:
        left > 0
          ? `a batch of ${requests} is more than what is left of ${quota}; send at most ${left} at once`
          : `${quota} is used up; it begins anew with the next month (UTC)`,
      retryAfter: reset,
      limit: tier.requests_per_month,
      remaining: left,
      reset,
    };
  }

  private secondsLeftInMonth(now: number): number {
    return Math.max(1, Math.ceil((this.usage.monthEndsAt - now) / 1000));
  }
}

function overRate(bucket: Bucket, rate: number, requests: number): Refused {
  const missing = Math.min(requests, rate) * 1000 - bucket.milliTokens;
  return {
    ok: false,
    code: 'rate_limited',
    message:
      requests > rate
        ? `a batch of ${requests} is more than the ${rate} requests per second of this key; send at most ${rate} at once`
        : `more than ${rate} requests per second`,
    retryAfter: Math.max(1, Math.ceil(missing / rate / 1000)),
    limit: rate,
    remaining: Math.floor(bucket.milliTokens / 1000),
    reset: secondsUntilFull(bucket, rate),
  };
}

function secondsUntilFull(bucket: Bucket, rate: number): number {
  return Math.ceil((rate * 1000 - bucket.milliTokens) / rate / 1000);
}
