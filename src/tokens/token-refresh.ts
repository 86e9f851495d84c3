/**
 * Which tokens' metadata to read again: of those that moved, every few days, and of proxies that logged `Upgraded`.
 * Kept in memory: a token that moved before the start is due at a random time, so that frequent restarts do not prevent
 * it.
 */
import { bytesToHex, type Hex } from '../lib/hex.ts';
import type { BlockBatch } from '../model/block-batch.ts';

/** Time between two reads of a token that moves, milliseconds. */
const REFRESH_MS = 3 * 86_400_000;

/** Anyone can log `Upgraded`: so many reads per hour follow it, and one per token. */
const UPGRADES_PER_HOUR = 120;
const HOUR_MS = 3_600_000;

/** Most tokens to remember. Above, those that moved longest ago are forgotten. */
const MAX_TOKENS = 50_000;

export class TokenRefresh {
  private readonly now: () => number;
  private readonly random: () => number;
  /** When a token that moved is due, by its address. */
  private readonly dueAt = new Map<Hex, number>();
  /** Tokens that moved since their last read, and those that were upgraded. */
  private readonly moved = new Set<Hex>();
  private readonly upgraded = new Set<Hex>();
  /** Upgrades of the current hour. */
  private readonly seen = new Set<Hex>();
  private hourEndsAt = 0;

  constructor(now = () => performance.now(), random = Math.random) {
    this.now = now;
    this.random = random;
  }

  /** Notes the tokens of blocks at the head. */
  record({ token, addresses, upgraded }: Pick<BlockBatch, 'token' | 'addresses' | 'upgraded'>): void {
    for (const at of new Set(token))
      if (at >= 0) this.move(bytesToHex(addresses.subarray(at * 20, at * 20 + 20)));
    for (const address of upgraded) this.upgrade(address);
  }

  private move(address: Hex): void {
    const dueAt = this.dueAt.get(address) ?? this.now() + this.random() * REFRESH_MS;
    this.dueAt.delete(address);
    this.dueAt.set(address, dueAt);
    this.moved.add(address);
    for (const oldest of this.dueAt.keys()) {
      if (this.dueAt.size <= MAX_TOKENS) break;
      this.dueAt.delete(oldest);
      this.moved.delete(oldest);
    }
  }

  private upgrade(address: Hex): void {
    const now = this.now();
    if (now >= this.hourEndsAt) {
      this.hourEndsAt = now + HOUR_MS;
      this.seen.clear();
    }
    if (this.seen.size >= UPGRADES_PER_HOUR || this.seen.has(address)) return;
    this.seen.add(address);
    this.upgraded.add(address);
  }

  /** Takes up to `limit` tokens that are due; each is due again after it moved and REFRESH_MS. */
  take(limit: number): Hex[] {
    const taken = [...this.upgraded].slice(0, limit);
    const now = this.now();
    for (const address of this.moved) {
      if (taken.length >= limit) break;
      if ((this.dueAt.get(address) ?? 0) <= now && !this.upgraded.has(address)) taken.push(address);
    }
    for (const address of taken) {
      this.upgraded.delete(address);
      this.moved.delete(address);
      if (this.dueAt.has(address)) this.dueAt.set(address, now + REFRESH_MS);
    }
    return taken;
  }
}
