/** How long the first events of a new token wait for its symbol and decimals. */
import { LruMap } from '../../lib/lru-map.ts';
import type { EventRow } from '../../query/events.ts';
import { type TokenSymbols, UNREAD_TOKEN } from '../../query/tokens.ts';

/** Events of older blocks do not wait, milliseconds: a replay or a catching-up index would wait for every token. */
const MAX_AGE_MS = 60_000;

/** Tokens whose deadline is remembered, so that only their first events wait. */
const MAX_TOKENS = 10_000;

export class MetadataWait {
  private readonly tokenFacts: TokenSymbols;
  private readonly waitMs: number;
  /** By token, in milliseconds of performance.now(). */
  private readonly deadlines = new LruMap<string, number>(MAX_TOKENS);

  constructor(tokenFacts: TokenSymbols, waitMs: number) {
    this.tokenFacts = tokenFacts;
    this.waitMs = waitMs;
  }

  /** Whether the contract of the transfer's token may still be asked in time. */
  awaits({ token, symbol, decimals, timestamp }: EventRow): boolean {
    if (token === '' || symbol !== null || decimals !== null || this.waitMs === 0) return false;
    if (timestamp * 1000 < Date.now() - MAX_AGE_MS) return false;
    const now = performance.now();
    const deadline = this.deadlines.get(token);
    if (deadline !== undefined && now >= deadline) return false;
    if (this.tokenFacts(token) !== UNREAD_TOKEN) return false;
    if (deadline === undefined) this.deadlines.set(token, now + this.waitMs);
    return true;
  }
}
