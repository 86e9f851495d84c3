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

/** How often to check for missing metadata, milliseconds. */
const CHECK_MS = 20;
/** Longest work of a release, milliseconds. The rest follows in another turn. */
const RELEASE_MS = 4;
/** Most events held per subscription. Further events are pushed incomplete. */
const MAX_HELD = 5_000;

interface HeldEvent {
  event: TransferEvent;
  forms: readonly Form[];
  /** Whether its token's metadata was being read. */
  isUnnamed: boolean;
}

/** What waits: an event, or a push that keeps its place behind the events before it. */
type Held = HeldEvent | (() => void);

/** The subscription that events are held for. */
export interface Holder {
  pushNow(event: TransferEvent, forms: readonly Form[]): void;
}

interface HeldEventsOptions<H extends Holder> {
  metadata: MetadataWait;
  tokenFacts: TokenSymbols;
  /** Events were pushed. */
  onReleased(): void;
  /** The index could not be read, so that the holder's events are lost. */
  onFailure(error: unknown, holder: H): void;
}

export class HeldEvents<H extends Holder = Holder> {
  private readonly options: HeldEventsOptions<H>;
  private readonly queues = new Map<H, Held[]>();
  private timer: NodeJS.Timeout | null = null;
  private isReleasing = false;

  constructor(options: HeldEventsOptions<H>) {
    this.options = options;
  }

  countOf(holder: H): number {
    return this.queues.get(holder)?.length ?? 0;
  }

  /** Whether an event may be pushed to the holder at once. If not, holds it. */
  passes(holder: H, event: TransferEvent, forms: readonly Form[]): boolean {
    const isIncomplete = this.isIncomplete(event, forms); // asks for what is missing, also behind other events
    let queue = this.queues.get(holder);
    if (queue === undefined && !isIncomplete) return true;
    if (queue === undefined) {
      queue = [];
      this.queues.set(holder, queue);
      this.timer ??= setInterval(
        guarded('held events', () => this.release()),
        CHECK_MS,
      ).unref();
    }
    queue.push({ event, forms, isUnnamed: this.options.metadata.awaits(event.row) });
    if (queue.length > MAX_HELD) this.flush(holder);
    return false;
  }

  /** Runs `push` behind the events held for the holder, at once without any. */
  inOrder(holder: H, push: () => void): void {
    const queue = this.queues.get(holder);
    if (queue === undefined) return push();
    queue.push(push);
    if (queue.length > MAX_HELD) this.flush(holder);
  }

  /** Pushes the events that have become complete, and those behind them. Call it when data may have arrived. */
  release(): void {
    if (this.isReleasing || this.queues.size === 0) return;
    const deadline = performance.now() + RELEASE_MS;
    for (const [holder, queue] of [...this.queues]) {
      if (!this.queues.delete(holder)) continue; // left meanwhile
      this.queues.set(holder, queue); // behind the others
      this.releaseFrom(holder, queue, deadline);
      if (queue.length === 0) this.delete(holder);
      if (performance.now() > deadline) {
        this.isReleasing = true;
        setImmediate(guarded('held events', () => this.releaseRest()));
        break;
      }
    }
    this.options.onReleased();
  }

  delete(holder: H): void {
    this.queues.delete(holder);
    this.stopIfEmpty();
  }

  close(): void {
    this.queues.clear();
    this.stopIfEmpty();
  }

  private releaseRest(): void {
    this.isReleasing = false;
    this.release();
  }

  private releaseFrom(holder: H, queue: Held[], deadline: number): void {
    let released = 0;
    try {
      for (const held of queue) {
        if (this.isWaiting(held) || performance.now() > deadline) break;
        released++;
        this.push(holder, held);
      }
      queue.splice(0, released);
    } catch (error) {
      queue.length = 0;
      this.options.onFailure(error, holder);
    }
  }

  private flush(holder: H): void {
    const queue = this.queues.get(holder) ?? [];
    this.delete(holder);
    for (const held of queue) this.push(holder, held);
  }

  private push(holder: H, held: Held): void {
    if (typeof held === 'function') return held();
    const { event, forms, isUnnamed } = held;
    if (isUnnamed) event.nameToken(this.options.tokenFacts(event.row.token));
    holder.pushNow(event, forms);
  }

  private isWaiting(held: Held): boolean {
    return typeof held !== 'function' && this.isIncomplete(held.event, held.forms);
  }

  /** Asks the node for the sender also while the metadata is missing. */
  private isIncomplete(event: TransferEvent, forms: readonly Form[]): boolean {
    const { metadata } = this.options;
    const signals = forms.filter((form) => typeof form === 'object');
    const awaitsParties = signals.length > 0 && event.awaitsParties();
    return (
      awaitsParties ||
      metadata.awaits(event.row) ||
      signals.some((signal) => event.awaitsTokens(signal, metadata))
    );
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
  private readonly reads: Pick<StreamReads, 'tokenSymbols' | 'tokenStart'>;
  private readonly waitMs: number;
  /** Deadlines by token, in milliseconds of performance.now(). */
  private readonly deadlines = new LruMap<string, number>(MAX_TOKENS);

  constructor(reads: Pick<StreamReads, 'tokenSymbols' | 'tokenStart'>, waitMs: number) {
    this.reads = reads;
    this.waitMs = waitMs;
  }

  /** Whether the contract of a transfer's token may still answer in time. */
  awaits({ token, symbol, decimals, timestamp }: EventRow): boolean {
    return token !== '' && symbol === null && decimals === null && this.awaitsToken(token, timestamp);
  }

  /** Whether a contract may still answer in time for an event of this Unix time. */
  awaitsToken(token: string, timestamp: number): boolean {
    const oldest = Date.now() - MAX_AGE_MS;
    if (this.waitMs === 0 || timestamp * 1000 < oldest) return false;
    const now = performance.now();
    const deadline = this.deadlines.get(token);
    if (deadline !== undefined && now >= deadline) return false;
    if (this.reads.tokenSymbols(token) !== UNREAD_TOKEN) return false;
    if (deadline !== undefined) return true;
    const start = this.reads.tokenStart(token);
    const isNew = start === undefined || start.timestamp * 1000 >= oldest;
    this.deadlines.set(token, isNew ? now + this.waitMs : now);
    return isNew;
  }
}
