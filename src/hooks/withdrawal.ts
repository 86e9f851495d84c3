/** Withdraws events after a reorg: those of reverted blocks that were sent to a hook, newest first. */
import type { Hex } from '../lib/hex.ts';
import { type Delivery, withdrawalOf } from './delivery.ts';
import type { Hook, HookCursor, HookStore, RevocablePart } from './hook-store.ts';

interface Withdrawal {
  deliveries: Delivery[];
  /** The remaining events of the parts that the deliveries come from. */
  parts: { id: number; left: readonly object[] }[];
  /** The hook's position once this is accepted; null while more events are to be withdrawn. */
  cursor: HookCursor | null;
}

/** The index's view of blocks. */
interface Chain {
  hashAt(block: number): Hex | null;
  /** Highest block that no reorg can reach when the index is at `head`. */
  finalBlock(head: number): number;
}

/** The next withdrawals of a hook, at most `limit`. Without deliveries, only the cursor remains to be set. */
export function planWithdrawal(
  store: Pick<HookStore, 'revocableParts' | 'readRevocable' | 'beginWithdrawal'>,
  hook: Pick<Hook, 'id' | 'cursor'>,
  chain: Chain,
  limit: number,
): Withdrawal {
  const parts = store.revocableParts(hook.id);
  const isGone = (part: RevocablePart) => part.withdrawn || chain.hashAt(part.block) !== part.hash;
  const gone = parts.filter(isGone);
  store.beginWithdrawal(gone.filter(({ withdrawn }) => !withdrawn)); // the block may be back before everything is withdrawn
  const deliveries: Delivery[] = [];
  const taken: Withdrawal['parts'] = [];
  for (const { id } of gone) {
    if (deliveries.length >= limit) break;
    const events = store.readRevocable(id);
    const kept = Math.max(0, events.length - (limit - deliveries.length));
    deliveries.push(
      ...events
        .slice(kept)
        .toReversed()
        .map((event) => withdrawalOf(hook.id, event)),
    );
    taken.push({ id, left: events.slice(0, kept) });
  }
  const isLast = taken.length === gone.length && taken.every(({ left }) => left.length === 0);
  return { deliveries, parts: taken, cursor: isLast ? cursorAfter(hook.cursor, parts, gone, chain) : null };
}

/**
 * The position from which the hook continues: its cursor, if only events after it were withdrawn; otherwise the highest
 * block that is certainly on both branches and whose events the hook all has.
 */
function cursorAfter(
  cursor: HookCursor,
  parts: readonly RevocablePart[],
  gone: readonly RevocablePart[],
  chain: Chain,
): HookCursor {
  const isOnChain = cursor.hash === null || chain.hashAt(cursor.block) === cursor.hash;
  if (isOnChain && gone.every(({ block }) => block > cursor.block)) return cursor;
  const last = parts.find((part) => part.block < cursor.block && !gone.includes(part));
  const floor = Math.min(chain.finalBlock(cursor.block), cursor.block - 1);
  const block = last === undefined ? floor : Math.max(floor, last.block);
  return { block, hash: chain.hashAt(block), position: null };
}
