/**
 * Limits the work for one answer. Reads whose size depends on the requested wallet or token report their work in units:
 * one history entry or row, 30 to 300 ns each. On the event loop an answer has a budget of units; an answer that would
 * exceed it is restarted in a read thread, which has a time limit instead.
 */
import { RequestError } from '../lib/errors.ts';
import { monotonicNow } from '../lib/time.ts';

export interface WorkBudget {
  /** Checks before work of a known size that it fits. Spends nothing. */
  ensure(units: number): void;
  /** Reports completed work. Call it at least every few thousand units. */
  spend(units: number): void;
}

/** Thrown by a read that is too much work for the event loop, before anything was answered. */
export class OverBudgetError extends Error {
  override name = 'OverBudgetError';
}

/** Allows `units` units. More throw OverBudgetError. */
export function unitBudget(units: number): WorkBudget {
  let left = units;
  const ensure = (wanted: number): void => {
    if (wanted > left) throw new OverBudgetError(`${wanted} units of work with ${left} left`);
  };
  return {
    ensure,
    spend(units) {
      ensure(units);
      left -= units;
    },
  };
}

/** Allows any amount of work until a time of `monotonicNow`; then throws RequestError 503 `timeout`. */
export function deadlineBudget(deadline: number): WorkBudget {
  return {
    ensure: () => undefined,
    spend() {
      if (monotonicNow() <= deadline) return;
      throw new RequestError(503, 'timeout', 'the answer took too long; ask for less or try again later');
    },
  };
}
