/**
 * Sender and receiver of the transactions that neither the blocks announced before their commit nor the index name,
 * such as those indexed by earlier releases: the node is asked, in batches, and each transaction once for all who ask.
 * They are unknown only if the node lacks both the transaction and its block, or does not answer for SILENT_MS.
 */
import { guarded } from '../../lib/guard.ts';
import { LruMap } from '../../lib/lru-map.ts';
import type { RpcClient } from '../../node/client.ts';
import type { Parties } from '../../query/stored-parties.ts';
import { fetchParties, type TransactionRef } from './fetch-parties.ts';

/** `reason` says why the parties are unknown; null if they are known. */
export type PartiesLookup = { parties: Parties; reason: null } | { parties: null; reason: string };

/** About 4 MB. */
const MAX_CACHED = 16_384;
/** Most transactions asked for or queued; about 6 MB. Beyond, those who ask must ask again. */
const MAX_PENDING = 20_000;
/** Most batches in flight, and transactions per batch. */
const MAX_IN_FLIGHT = 6;
const MAX_PER_BATCH = 100;
/**
 * How long requests wait for a full batch while another is in flight, milliseconds: an exchange costs as much as 10
 * calls.
 */
const GATHER_MS = 10;
/** Longest wait for a batch, milliseconds. After that, batches have a tenth of its size. */
const BATCH_MS = 4_000;
const SHRINK = 10;
/** How long the node may answer nothing at all before transactions become unknown, milliseconds. */
const SILENT_MS = 15_000;
/**
 * Pause after a batch without an answer, milliseconds; the longest one is also between two attempts at a silent node.
 */
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 2_000;
/** Requests for a transaction that the node does not return, although it answers. */
const MAX_ATTEMPTS = 3;
/** How long an unknown transaction is remembered, milliseconds: the node may learn of it. */
const FORGET_UNKNOWN_MS = 10_000;

/** Named in reports of failures. */
const PLACE = 'senders of transactions';

interface Request extends TransactionRef {
  /** Answers of the node without the transaction. */
  attempts: number;
}

export class TransactionParties {
  private readonly client: Pick<RpcClient, 'batch'>;
  private readonly onSettled: () => void;
  private readonly known = new LruMap<string, PartiesLookup>(MAX_CACHED);
  private readonly unknown = new LruMap<string, { lookup: PartiesLookup; until: number }>(MAX_CACHED);
  /** All requests that are not settled, by hash. */
  private readonly pending = new Map<string, Request>();
  /** The pending requests that wait for a batch. */
  private readonly queue = new Set<Request>();
  private inFlight = 0;
  private perBatch = MAX_PER_BATCH;
  /** When the first of the batches failed that were not followed by an answer, by performance.now(). */
  private silentSince: number | null = null;
  private failures = 0;
  /** Until when no further batch is sent. */
  private pausedUntil = 0;
  /**
   * The timer that will send; null if none runs. `isSoon`: in the next turn, which gathers the requests of this one.
   */
  private scheduled: { isSoon: boolean; cancel(): void } | null = null;
  private isClosed = false;
  private waiting: (() => void)[] = [];

  /** `onSettled` is called after some of the requests were settled. */
  constructor(client: Pick<RpcClient, 'batch'>, onSettled: () => void = () => undefined) {
    this.client = client;
    this.onSettled = onSettled;
  }

  /** The parties of a transaction, by the digits of its hash and of its block's. Undefined while the node is asked. */
  get(hash: string, blockHash: string): PartiesLookup | undefined {
    const known = this.known.get(hash);
    if (known !== undefined) return known;
    const unknown = this.unknown.get(hash);
    const now = performance.now();
    if (unknown !== undefined && now < unknown.until) return unknown.lookup;
    if (this.pending.has(hash) || this.pending.size >= MAX_PENDING) return undefined;
    if (this.isSilent(now) && now < this.pausedUntil) return SILENT;
    const request = { hash, blockHash, attempts: 0 };
    this.pending.set(hash, request);
    this.queue.add(request);
    this.schedule();
    return undefined;
  }

  /** Resolves when some of the requests are settled; at once if there are none. */
  async nextSettled(): Promise<void> {
    if (this.pending.size === 0) return;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    this.isClosed = true;
    this.pending.clear();
    this.queue.clear();
    this.notify();
  }

  private isSilent(now: number): boolean {
    return this.silentSince !== null && now - this.silentSince >= SILENT_MS;
  }

  /** Sends after the pause, once a batch is full or nothing is in flight, or after GATHER_MS. */
  private schedule(): void {
    if (this.queue.size === 0 || this.scheduled?.isSoon === true) return;
    const gather = this.inFlight > 0 && this.queue.size < this.perBatch ? GATHER_MS : 0;
    const wait = Math.max(gather, this.pausedUntil - performance.now());
    if (wait > 0 && this.scheduled !== null) return;
    this.scheduled?.cancel();
    const send = guarded(PLACE, () => this.sendBatches());
    if (wait > 0) {
      const timer = setTimeout(send, wait).unref();
      this.scheduled = { isSoon: false, cancel: () => clearTimeout(timer) };
    } else {
      const turn = setImmediate(send);
      this.scheduled = { isSoon: true, cancel: () => clearImmediate(turn) };
    }
  }

  private sendBatches(): void {
    this.scheduled = null;
    const send = guarded(PLACE, () => this.sendBatch());
    while (!this.isClosed && this.queue.size > 0 && this.inFlight < MAX_IN_FLIGHT) send();
  }

  private async sendBatch(): Promise<void> {
    this.inFlight++;
    const batch = [...this.queue].slice(0, this.perBatch);
    for (const request of batch) this.queue.delete(request);
    const startedAt = performance.now();
    try {
      const found = await fetchParties(this.client, batch, BATCH_MS);
      this.noteAnswer(batch.length);
      for (const [i, request] of batch.entries()) this.settleOrRepeat(request, found[i]!);
    } catch {
      this.noteSilence(batch, startedAt);
    }
    this.inFlight--;
    this.schedule();
    this.notify();
  }

  private noteAnswer(count: number): void {
    this.silentSince = null;
    this.failures = 0;
    if (count >= this.perBatch) this.perBatch = Math.min(MAX_PER_BATCH, this.perBatch * 2);
  }

  private settleOrRepeat(request: Request, found: Parties | { problem: string }): void {
    if (!('problem' in found)) return this.settle(request, { parties: found, reason: null });
    if (++request.attempts >= MAX_ATTEMPTS) return this.settle(request, unknownLookup(found.problem));
    const repeat = guarded(PLACE, () => this.requeue([request]));
    setTimeout(repeat, PAUSE_MS * request.attempts).unref();
  }

  /** Repeats a batch without an answer, smaller. After SILENT_MS all requests become unknown. */
  private noteSilence(batch: readonly Request[], startedAt: number): void {
    const now = performance.now();
    this.silentSince ??= startedAt;
    this.failures++;
    this.perBatch = Math.max(1, Math.min(this.perBatch, Math.floor(batch.length / SHRINK)));
    this.pausedUntil = now + Math.min(MAX_PAUSE_MS, PAUSE_MS * this.failures);
    this.requeue(batch);
    if (!this.isSilent(now)) return;
    for (const request of this.queue) this.settle(request, SILENT);
    this.queue.clear();
  }

  private requeue(requests: readonly Request[]): void {
    for (const request of requests) if (this.pending.has(request.hash)) this.queue.add(request);
    this.schedule();
  }

  private settle({ hash }: Request, lookup: PartiesLookup): void {
    this.pending.delete(hash);
    if (lookup.parties !== null) this.known.set(hash, lookup);
    else this.unknown.set(hash, { lookup, until: performance.now() + FORGET_UNKNOWN_MS });
  }

  private notify(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
    if (!this.isClosed) this.onSettled();
  }
}

const SILENT = unknownLookup(`the node has not answered for ${SILENT_MS / 1000} s`);

function unknownLookup(reason: string): PartiesLookup {
  return { parties: null, reason };
}
