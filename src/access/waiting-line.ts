/**
 * Queues calls over their key's rate briefly instead of refusing them at once, because stock clients retry three times
 * within a second or never. First in, first out; bounded in time, count and bytes per key.
 */
import { guarded } from '../lib/guard.ts';
import type { KeyRecord } from './key.ts';
import type { AdmissionResult, Limiter } from './limiter.ts';

/** Most queued requests per key, and most bytes of their bodies. */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 8 * 2 ** 20;

/** A request that may have to wait. */
export interface Waiter {
  readonly record: KeyRecord;
  readonly calls: number;
  /** Bytes of its body. */
  readonly bytes: number;
  /** When it arrived, by performance.now(). Its wait counts from then. */
  readonly arrivedAt: number;
  /** Called once, later, with the decision. Null when the key is no longer valid. */
  onDecided(admission: AdmissionResult | null): void;
}

/** Leaves the queue. `onDecided` is not called afterwards. */
export type Leave = () => void;

/** The queued requests of one key. */
interface Line {
  /** `deadline` by performance.now(). */
  waiters: { waiter: Waiter; deadline: number }[];
  calls: number;
  bytes: number;
  timer: NodeJS.Timeout | undefined;
}

export class WaitingLine {
  private readonly limiter: Limiter;
  private readonly waitMs: number;
  /** Lines by key id. A key without queued requests has none. */
  private readonly lines = new Map<number, Line>();

  /** `waitMs`: the longest wait; 0 disables queueing. */
  constructor(limiter: Limiter, waitMs: number) {
    this.limiter = limiter;
    this.waitMs = waitMs;
  }

  /** Admits and counts the calls, refuses them, or queues the request behind others of its key. */
  enter(waiter: Waiter): AdmissionResult | Leave {
    const line = this.lines.get(waiter.record.id);
    const admission = this.limiter.take(waiter.record, waiter.calls, line?.calls);
    if (admission.ok || admission.code === 'quota_exceeded' || waiter.calls === 0 || this.waitMs === 0) {
      return admission;
    }
    if (line !== undefined) return isFull(line, waiter) ? admission : this.join(line, waiter);
    const opened: Line = { waiters: [], calls: 0, bytes: 0, timer: undefined };
    this.lines.set(waiter.record.id, opened);
    this.advanceIn(admission.waitMs, waiter.record.id, opened);
    return this.join(opened, waiter);
  }

  /** Refuses the queued requests of keys that are no longer valid. */
  expel(keys: readonly number[]): void {
    for (const key of keys) {
      const line = this.lines.get(key);
      if (line === undefined) continue;
      this.close(key, line);
      for (const { waiter } of line.waiters) waiter.onDecided(null);
    }
  }

  private close(key: number, line: Line): void {
    clearTimeout(line.timer);
    this.lines.delete(key);
  }

  private join(line: Line, waiter: Waiter): Leave {
    const place = { waiter, deadline: waiter.arrivedAt + this.waitMs };
    line.waiters.push(place);
    line.calls += waiter.calls;
    line.bytes += waiter.bytes;
    return () => {
      const at = line.waiters.indexOf(place);
      if (at < 0) return;
      remove(line, at);
      if (at === 0) this.advanceIn(0, waiter.record.id, line);
    };
  }

  private advanceIn(ms: number, key: number, line: Line): void {
    clearTimeout(line.timer);
    line.timer = setTimeout(
      guarded('waiting calls', () => this.advance(key, line)),
      Math.min(ms, this.waitMs),
    );
  }

  /** Decides the requests at the front until one must wait longer. */
  private advance(key: number, line: Line): void {
    for (;;) {
      const first = line.waiters[0];
      if (first === undefined) return this.close(key, line);
      const { waiter, deadline } = first;
      const admission = this.limiter.take(waiter.record, waiter.calls);
      const left = deadline - performance.now();
      if (!admission.ok && admission.code === 'rate_limited' && left > 0) {
        return this.advanceIn(Math.min(admission.waitMs, Math.ceil(left)), key, line);
      }
      remove(line, 0);
      waiter.onDecided(
        admission.ok ? admission : this.limiter.spread(waiter.record, admission, waiter.calls),
      );
    }
  }
}

function isFull(line: Line, { bytes }: Waiter): boolean {
  return line.waiters.length >= MAX_WAITING || line.bytes + bytes > MAX_WAITING_BYTES;
}

function remove(line: Line, at: number): void {
  for (const { waiter } of line.waiters.splice(at, 1)) {
    line.calls -= waiter.calls;
    line.bytes -= waiter.bytes;
  }
}
