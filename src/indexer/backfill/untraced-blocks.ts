/**
 * Decides when a block that the node does not trace becomes a gap. Heavy blocks of a loaded node fail while light ones
 * succeed, and those are the ones one needs, so a block is given up only for a reason that the node repeats, or after a
 * long wait, and never while the node traces nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../lib/async.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { type BlockBatch, packedHash } from '../../model/block-batch.ts';

export interface UntracedBlocksOptions {
  /** Loads one block. */
  load(number: number, signal: AbortSignal): Promise<BlockBatch>;
  /** Loads one block from the other nodes; null when none of them traces it. */
  loadElsewhere?(number: number, signal: AbortSignal): Promise<BlockBatch | null>;
  /** Whether the block is at the head, where clients wait for it. */
  isAtHead?(number: number): boolean;
  /** Longest wait for the traces of a block without a final reason, milliseconds (`index.gap_after`). */
  gapAfterMs?: number;
  /** How long a reason must stand, milliseconds. Only tests pass their own. */
  confirmMs?: number;
  /** Called when a block becomes a gap, with the node's reason. */
  onGap(number: number, message: string): void;
}

const CONFIRM_MS = 30_000;
const GAP_AFTER_MS = 600_000;
/** Longest wait at the head, milliseconds. */
const HEAD_GAP_AFTER_MS = 120_000;

/** Waits between the tries of a block, milliseconds. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** Blocks tried at a time. */
const MAX_TRIES_AT_ONCE = 8;

/** Traced blocks remembered: a few per range in flight. */
const MAX_TRACED = 1_024;
/** Blocks tried on each side of a block to find one that the node traces. */
const MAX_NEIGHBOURS = 8;
/** How long the answer about such a block counts, milliseconds. */
const PROBE_MS = 10_000;
/** Blocks whose waits are remembered: as many as are loaded ahead where each range is a block. */
const MAX_CASES = 4_096;
/** Reasons remembered from gaps. */
const MAX_KNOWN_REASONS = 100;

/** The settlement of one block. Times are performance.now(). */
interface Case {
  number: number;
  batch: BlockBatch;
  since: number;
  limitMs: number;
  /** When the node first and last gave the present reason, null if it gave none. */
  reason: { since: number; last: number } | null;
}

export class UntracedBlocks {
  private readonly options: UntracedBlocksOptions;
  private readonly confirmMs: number;
  private readonly traced: number[] = [];
  private readonly probes = new Map<number, { at: number; isTraced: Promise<boolean> }>();
  private readonly knownReasons = new Set<string>();
  /** By number; kept when a failure of the node drops what was loaded, so that the waits do not begin again. */
  private readonly cases = new Map<number, Case>();
  private readonly turns = new Turns(MAX_TRIES_AT_ONCE);

  /** `knownReasons`: of gaps in the index. */
  constructor(options: UntracedBlocksOptions, knownReasons: readonly string[] = []) {
    this.options = options;
    this.confirmMs = options.confirmMs ?? CONFIRM_MS;
    for (const reason of knownReasons) this.knownReasons.add(reason);
  }

  /** Notes which blocks the node traces. */
  note(batches: readonly BlockBatch[]): void {
    for (const { unsettled, tracedBlock, number, blockCount } of batches) {
      if (unsettled !== null) continue;
      if (tracedBlock !== null) this.traced.push(tracedBlock);
      for (const open of this.cases.keys())
        if (number[0]! <= open && open <= number[blockCount - 1]!) this.cases.delete(open);
    }
    if (this.traced.length > MAX_TRACED) this.traced.splice(0, this.traced.length - MAX_TRACED);
  }

  /** The block of an unsettled batch, traced or as a gap. Rejects only when the signal aborts. */
  async settle(unsettled: BlockBatch, signal: AbortSignal): Promise<BlockBatch> {
    const settled = await this.trySettling(unsettled, signal);
    this.cases.delete(unsettled.number[0]!);
    return settled;
  }

  private async trySettling(unsettled: BlockBatch, signal: AbortSignal): Promise<BlockBatch> {
    const open = this.openCase(unsettled);
    const { number } = open;
    for (let attempt = 1; ; attempt++) {
      if (this.isKnown(open.batch)) return this.giveUp(open);
      await sleep(this.waitMs(open, attempt), undefined, { signal });
      const batch = await this.tryAgain(number, signal);
      if (batch === null) continue;
      if (batch.unsettled === null) return batch;
      this.hear(open, batch);
      if (!(await this.isOver(open, signal))) continue;
      // The node may have recovered between the try and those of the blocks around, so one more try decides.
      const last = await this.tryAgain(number, signal);
      if (last === null) continue;
      if (last.unsettled === null) return last;
      this.hear(open, last);
      if (!isSameBlock(last, batch)) continue;
      const { loadElsewhere = async () => null } = this.options;
      const elsewhere = await this.turns.run(() => loadElsewhere(number, signal));
      return elsewhere !== null && isSameBlock(elsewhere, last) ? elsewhere : this.giveUp(open);
    }
  }

  private openCase(batch: BlockBatch): Case {
    const number = batch.number[0]!;
    const known = this.cases.get(number);
    if (known !== undefined) {
      this.hear(known, batch);
      return known;
    }
    const { isAtHead, gapAfterMs = GAP_AFTER_MS } = this.options;
    const limitMs = isAtHead?.(number) ? Math.min(gapAfterMs, HEAD_GAP_AFTER_MS) : gapAfterMs;
    const since = performance.now();
    const reason = batch.unsettled?.isReasoned ? { since, last: since } : null;
    const open = { number, batch, since, limitMs, reason };
    if (this.cases.size >= MAX_CASES) this.cases.delete(this.cases.keys().next().value ?? number);
    this.cases.set(number, open);
    return open;
  }

  /** Takes the outcome of another try. One without a reason proves nothing about the reason given before. */
  private hear(open: Case, batch: BlockBatch): void {
    const now = performance.now();
    const isSame = isSameBlock(batch, open.batch);
    if (!isSame) Object.assign(open, { since: now, reason: null });
    const isReasoned = batch.unsettled?.isReasoned ?? false;
    if (!isReasoned && open.reason !== null) return;
    if (isReasoned) {
      const isRepeated = open.reason !== null && reasonOf(batch) === reasonOf(open.batch);
      open.reason = { since: isRepeated && open.reason ? open.reason.since : now, last: now };
    }
    open.batch = batch;
  }

  /** Whether the block is to become a gap, right after a failed try. */
  private async isOver({ number, since, limitMs, reason }: Case, signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    const isRepeated = reason !== null && reason.last - reason.since >= this.confirmMs;
    const isExpired = now - since >= limitMs;
    if (!isRepeated && !isExpired) return false;
    const around = await Promise.all([this.traces(number, -1, signal), this.traces(number, 1, signal)]);
    return isExpired ? around.includes(true) : !around.includes(false);
  }

  private waitMs({ reason }: Case, attempt: number): number {
    const wait = backoffMs(2 * attempt - 1, RETRY_MIN_MS, RETRY_MAX_MS);
    const left = reason === null ? 0 : reason.since + this.confirmMs - performance.now();
    return left > 0 ? Math.min(wait, left) : wait;
  }

  /** Null when the node gave no usable answer. */
  private async tryAgain(number: number, signal: AbortSignal): Promise<BlockBatch | null> {
    try {
      return await this.turns.run(() => this.options.load(number, signal));
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      return null;
    }
  }

  /** Whether the node traces a block on this side of a block at present. */
  private async traces(number: number, step: 1 | -1, signal: AbortSignal): Promise<boolean> {
    const side = this.traced.filter((each) => (each - number) * step > 0);
    const nearest = step > 0 ? Math.min(...side) : Math.max(...side);
    if (side.length > 0 && (await this.probe(nearest, signal))) return true;
    for (let distance = 1; distance <= MAX_NEIGHBOURS; distance++) {
      const neighbour = number + distance * step;
      if (neighbour >= 0 && (await this.probe(neighbour, signal))) return true;
    }
    return false;
  }

  private probe(number: number, signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    for (const [key, { at }] of this.probes) if (now - at >= PROBE_MS) this.probes.delete(key);
    const known = this.probes.get(number);
    if (known !== undefined) return known.isTraced;
    const isTraced = this.tryAgain(number, signal).then(
      (batch) => batch !== null && batch.unsettled === null && batch.tracedBlock === number,
    );
    this.probes.set(number, { at: now, isTraced });
    return isTraced;
  }

  /**
   * Whether the node gave a reason that made a gap before, for transactions that used no gas and so are no load. At the
   * head of Polygon every 16th block has one, which would hold the index up for half of the time.
   */
  private isKnown(batch: BlockBatch): boolean {
    const { unsettled } = batch;
    return unsettled?.isReasoned === true && unsettled.isIdle && this.knownReasons.has(reasonOf(batch));
  }

  private giveUp({ number, batch }: Case): BlockBatch {
    this.options.onGap(number, batch.unsettled?.message ?? '');
    if (this.knownReasons.size < MAX_KNOWN_REASONS) this.knownReasons.add(reasonOf(batch));
    return { ...batch, unsettled: null };
  }
}

function isSameBlock(a: BlockBatch, b: BlockBatch): boolean {
  return Buffer.compare(packedHash(a.hash, 0), packedHash(b.hash, 0)) === 0;
}

function reasonOf({ gaps }: BlockBatch): string {
  return gaps[0]?.reason ?? '';
}

/** Runs at most so many tasks at a time, the others in order. */
class Turns {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
