/**
 * How much work one answer may take. Reads whose size depends on the requested wallet or token report their work in
 * units: one activity entry or row looked at, 30 to 300 ns each. On the event loop an answer has a budget of units; one
 * that would exceed it is restarted in a read thread, which has a time limit instead.
 */
import { RequestError } from '../errors.ts';
import { steadyNow } from '../lib/time.ts';

export interface Effort {
  /** Checks before work of a known size that it fits; spends nothing. */
  expect(units: number): void;
  /** Reports work as it is done, at least every few thousand units. */
  spend(units: number): void;
}

/** Thrown by a read that is too much work for the event loop; nothing has been answered yet. */
export class OverBudget extends Error {
  override name = 'OverBudget';
}

/** Allows `units` units; more throw OverBudget. */
export function budgetOf(units: number): Effort {
  let left = units;
  const expect = (wanted: number): void => {
    if (wanted > left) throw new OverBudget(`${wanted} units of work with ${left} left`);
  };
  return {
    expect,
    spend(units) {
      expect(units);
      left -= units;
    },
  };
}

/** Any amount of work until a moment of `steadyNow`; past it RequestError 503 `timeout` is thrown. */
export function effortUntil(deadline: number): Effort {
  return {
    expect: () => undefined,
    spend() {
      if (steadyNow() <= deadline) return;
      throw new RequestError(503, 'timeout', 'the answer took too long; ask for less or try again later');
    },
  };
}
