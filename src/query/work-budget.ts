/**
 * How much work one answer may take. Reads whose size depends on the requested wallet or token report their work in
 * units: one history entry or row looked at, 30 to 300 ns each. On the event loop an answer has a budget of units; one
 * that would exceed it is restarted in a read thread, which has a time limit instead.
 */
import { RequestError } from '../lib/errors.ts';
import { monotonicNow } from '../lib/time.ts';

export interface WorkBudget {
  /** Checks before work of a known size that it fits; spends nothing. */
  ensure(units: number): void;
  /** Reports work as it is done, at least every few thousand units. */
  spend(units: number): void;
}

/** Thrown by a read that is too much work for the event loop; nothing has been answered yet. */
export class OverBudgetError extends Error {
  override name = 'OverBudgetError';
}

/** Allows `units` units; more throw OverBudgetError. */
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

/** Any amount of work until a moment of `monotonicNow`; past it RequestError 503 `timeout` is thrown. */
export function deadlineBudget(deadline: number): WorkBudget {
  return {
    ensure: () => undefined,
    spend() {
      if (monotonicNow() <= deadline) return;
      throw new RequestError(503, 'timeout', 'the answer took too long; ask for less or try again later');
    },
  };
}
