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
  /** The charge of one call before the request was read. */
  private prepaid: AdmissionResult | null = null;
  private isUnread = false;

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
    this.calls = calls - (this.prepaid === null ? 0 : 1);
    if (this.prepaid !== null && this.calls <= 0) return this.prepaid;
    const admission = this.decision ?? this.line.enter(this);
    if (typeof admission !== 'function') return admission;
    this.leaveLine = admission;
    return 'waits';
  }

  /** Like `decide`, for one call of a request that is not read yet. Its other calls are decided once it is read. */
  decideUnread(): AdmissionResult | 'waits' {
    this.isUnread = true;
    const admission = this.decide(1);
    if (admission !== 'waits') this.settleUnread(admission);
    return admission;
  }

  /** Ends the wait, if there is one. `onTurn` is not called afterwards. */
  leave(): void {
    this.leaveLine?.();
    this.leaveLine = null;
  }

  onDecided(admission: AdmissionResult | null): void {
    this.leaveLine = null;
    this.decision = admission;
    if (this.isUnread) this.settleUnread(admission);
    this.onTurn(admission);
  }

  private settleUnread(admission: AdmissionResult | null): void {
    this.isUnread = false;
    if (!admission?.ok) return;
    this.decision = null;
    this.prepaid = admission;
  }

  /** The wait is over; null when the key is no longer valid. */
  protected abstract onTurn(admission: AdmissionResult | null): void;
}
