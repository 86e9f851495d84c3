/** The next message of a withdrawal. */
import { type Delivery, withdrawalOf } from './delivery.ts';
import type { RevocablePart, RevocableParts } from './revocable-parts.ts';

export interface Withdrawal {
  deliveries: Delivery[];
  /** The remaining events of the parts that the deliveries come from. */
  parts: { id: number; left: readonly object[] }[];
  /** Whether nothing remains to be withdrawn after these. */
  isLast: boolean;
}

/** The next withdrawals from parts that are gone, newest event first, at most `limit`. */
export function nextWithdrawal(
  hook: number,
  gone: readonly RevocablePart[],
  store: Pick<RevocableParts, 'events'>,
  limit: number,
): Withdrawal {
  const deliveries: Delivery[] = [];
  const parts: Withdrawal['parts'] = [];
  for (const { id } of gone) {
    if (deliveries.length >= limit) break;
    const events = store.events(id);
    const kept = Math.max(0, events.length - (limit - deliveries.length));
    const taken = events.slice(kept).toReversed();
    deliveries.push(...taken.map((event) => withdrawalOf(hook, event)));
    parts.push({ id, left: events.slice(0, kept) });
  }
  const isLast = parts.length === gone.length && parts.every(({ left }) => left.length === 0);
  return { deliveries, parts, isLast };
}
