/**
 * Holds events until they are complete, while a new token's metadata is being read or the node is being asked for a
 * transaction. Later events of the same subscription wait too, to keep the order; other subscriptions do not.
 */

import { guarded } from '../../lib/guard.ts';
import { LruMap } from '../../lib/lru-map.ts';
import type { EventRow } from '../../query/events.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { type TokenSymbols, UNREAD_TOKEN } from '../../query/tokens.ts';
import type { Form, TransferEvent } from './transfer-event.ts';

/** How often to check for the missing data, milliseconds. */
const CHECK_MS = 20;
/** Longest wait for the sender and receiver of a transaction, milliseconds. */
const PARTIES_MS = 1_000;
/** Most events held per subscription. Further events are pushed incomplete. */
const MAX_HELD = 5_000;

interface HeldEvent {
  event: TransferEvent;
  forms: readonly Form[];
  /** When to push the event even if incomplete; milliseconds of performance.now(). */
  deadline: number;
}

/** The subscription that events are held for. */
export interface Holder {
  pushNow(event: TransferEvent, forms: readonly Form[]): void;
}

export class HeldEvents {
  private readonly queues = new Map<Holder, HeldEvent[]>();
  private readonly metadata: MetadataWait;
  private readonly tokenFacts: TokenSymbols;
  private readonly onReleased: () => void;
  private timer: NodeJS.Timeout | null = null;

  /** `onReleased` is called after events were pushed. */
  constructor(metadata: MetadataWait, tokenFacts: TokenSymbols, onReleased: () => void) {
    this.metadata = metadata;
    this.tokenFacts = tokenFacts;
    this.onReleased = onReleased;
  }

  countOf(holder: Holder): number {
    return this.queues.get(holder)?.length ?? 0;
  }

  /** Whether an event may be pushed to the holder at once. If not, holds it. */
  passes(holder: Holder, event: TransferEvent, forms: readonly Form[]): boolean {
    let queue = this.queues.get(holder);
    if (queue === undefined && !this.isIncomplete(event, forms)) return true;
    if (queue === undefined) {
      queue = [];
      this.queues.set(holder, queue);
      this.timer ??= setInterval(
        guarded('held events', () => this.releaseComplete()),
        CHECK_MS,
      ).unref();
    }
    queue.push({ event, forms, deadline: performance.now() + PARTIES_MS });
    if (queue.length > MAX_HELD) this.flush(holder);
    return false;
  }

  /** Pushes all held events, complete or not, because a removal must not overtake them. */
  flushAll(): void {
    for (const holder of [...this.queues.keys()]) this.flush(holder);
  }

  delete(holder: Holder): void {
    this.queues.delete(holder);
    this.stopIfEmpty();
  }

  close(): void {
    this.queues.clear();
    this.stopIfEmpty();
  }

  private flush(holder: Holder): void {
    const queue = this.queues.get(holder) ?? [];
    this.delete(holder);
    for (const { event, forms } of queue) this.push(holder, event, forms);
  }

  private releaseComplete(): void {
    const now = performance.now();
    for (const [holder, queue] of this.queues) {
      const wait = queue.findIndex(
        ({ event, forms, deadline }) => now < deadline && this.isIncomplete(event, forms),
      );
      const ready = wait < 0 ? queue.splice(0) : queue.splice(0, wait);
      if (queue.length === 0) this.queues.delete(holder);
      for (const { event, forms } of ready) this.push(holder, event, forms);
    }
    this.stopIfEmpty();
    this.onReleased();
  }

  private push(holder: Holder, event: TransferEvent, forms: readonly Form[]): void {
    const { token, symbol, decimals } = event.row;
    if (token !== '' && symbol === null && decimals === null) event.nameToken(this.tokenFacts(token));
    holder.pushNow(event, forms);
  }

  private isIncomplete(event: TransferEvent, forms: readonly Form[]): boolean {
    return this.metadata.awaits(event.row) || (typeof forms[0] === 'object' && event.awaitsParties());
  }

  private stopIfEmpty(): void {
    if (this.queues.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}

/**
 * Events wait only for tokens that first appeared within this time, milliseconds. After a backfill thousands of older
 * tokens are still unread, and a replay would wait for each.
 */
const MAX_AGE_MS = 60_000;

/** Tokens whose deadline is remembered, so that only their first events wait. */
const MAX_TOKENS = 10_000;

/** How long the first events of a new token wait for its symbol and decimals. */
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
