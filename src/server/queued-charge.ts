/** Charges a client's request to its key once: now, or after a wait in the key's line. */
import type { KeyRecord } from '../access/key.ts';
import type { AdmissionResult } from '../access/limiter.ts';
import type { Leave, Waiter, WaitingLine } from '../access/waiting-line.ts';

export abstract class QueuedCharge implements Waiter {
  readonly record: KeyRecord;
  readonly arrivedAt: number;
  calls = 0;
  bytes = 0;
  private readonly line: Pick<WaitingLine, 'enter'>;
  private leaveLine: Leave | null = null;
  private decision: AdmissionResult | null = null;

  /** `arrivedAt`: by performance.now(). */
  constructor(line: Pick<WaitingLine, 'enter'>, record: KeyRecord, arrivedAt = performance.now()) {
    this.line = line;
    this.record = record;
    this.arrivedAt = arrivedAt;
  }

  get isWaiting(): boolean {
    return this.leaveLine !== null;
  }

  /** The decision on these calls. After `waits`, `onTurn` is called once, and the same charge then has its decision. */
  decide(calls: number): AdmissionResult | 'waits' {
    this.calls = calls;
    const admission = this.decision ?? this.line.enter(this);
    if (typeof admission !== 'function') return admission;
    this.leaveLine = admission;
    return 'waits';
  }

  /** Ends the wait, if there is one. `onTurn` is not called afterwards. */
  leave(): void {
    this.leaveLine?.();
    this.leaveLine = null;
  }

  onDecided(admission: AdmissionResult | null): void {
    this.leaveLine = null;
    this.decision = admission;
    this.onTurn(admission);
  }

  /** The wait is over; null when the key is no longer valid. */
  protected abstract onTurn(admission: AdmissionResult | null): void;
}
