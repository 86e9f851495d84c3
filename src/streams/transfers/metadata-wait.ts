/** How long the first events of a new token wait for its symbol and decimals. */
import { LruMap } from '../../lib/lru-map.ts';
import type { EventRow } from '../../query/events.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { UNREAD_TOKEN } from '../../query/tokens.ts';

/**
 * Events wait only for tokens that first appeared within this time, milliseconds. After a backfill thousands of older
 * tokens are still unread, and a replay would wait for each.
 */
const MAX_AGE_MS = 60_000;

/** Tokens whose deadline is remembered, so that only their first events wait. */
const MAX_TOKENS = 10_000;

export class MetadataWait {
  private readonly reads: Pick<StreamReads, 'tokenSymbols' | 'tokenFirstSeen'>;
  private readonly waitMs: number;
  /** Deadlines by token, in milliseconds of performance.now(). */
  private readonly deadlines = new LruMap<string, number>(MAX_TOKENS);

  constructor(reads: Pick<StreamReads, 'tokenSymbols' | 'tokenFirstSeen'>, waitMs: number) {
    this.reads = reads;
    this.waitMs = waitMs;
  }

  /** Whether the token contract may still answer in time. */
  awaits({ id, token, symbol, decimals, timestamp }: EventRow): boolean {
    if (token === '' || symbol !== null || decimals !== null || this.waitMs === 0) return false;
    const oldest = Date.now() - MAX_AGE_MS;
    if (timestamp * 1000 < oldest) return false;
    const now = performance.now();
    const deadline = this.deadlines.get(token);
    if (deadline !== undefined && now >= deadline) return false;
    if (this.reads.tokenSymbols(token) !== UNREAD_TOKEN) return false;
    if (deadline !== undefined) return true;
    const firstSeen = this.reads.tokenFirstSeen(id);
    const isNew = firstSeen === undefined || firstSeen * 1000 >= oldest;
    this.deadlines.set(token, isNew ? now + this.waitMs : now);
    return isNew;
  }
}
