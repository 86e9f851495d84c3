/** Large native transfers, found through the spans of store/zone-map.ts. */
import { bigIntToBytes } from '../lib/hex.ts';
import { encodeMagnitude } from '../lib/signed.ts';
import { NATIVE_KINDS } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { ZONE_SPAN, zoneOf } from '../store/zone-map.ts';
import type { IdRange } from './blocks.ts';
import type { WorkBudget } from './work-budget.ts';

/** DESC: newest first. */
type Order = 'ASC' | 'DESC';

type FindLarge = (wei: bigint, range: IdRange, limit: number, budget: WorkBudget) => number[];

/**
 * The ids of the native transfers, direct and internal, of at least `wei` within a range, in order from one end. Every
 * span read contains one of them, except at the ends of the range, so even a single large transfer among very many is
 * found by reading `limit` spans and one more.
 */
export function prepareLargeNativeIds(db: Db): Record<Order, FindLarge> {
  return { ASC: prepareInOrder(db, 'ASC'), DESC: prepareInOrder(db, 'DESC') };
}

function prepareInOrder(db: Db, order: Order): FindLarge {
  const spansWithOne = db
    .prepare<[Uint8Array, number, number, Uint8Array, number, number, number], number>(/* sql */ `
      SELECT lower.span FROM native_peaks upper
      CROSS JOIN native_peaks lower ON lower.level = 1 AND lower.peak >= +?
        AND lower.span >= max(upper.span * ${ZONE_SPAN}, +?) AND lower.span < (upper.span + 1) * ${ZONE_SPAN}
      WHERE upper.level = 2 AND upper.span >= +? AND upper.peak >= +? AND upper.span <= +? AND lower.span <= +?
      ORDER BY upper.span ${order}, lower.span ${order} LIMIT +?`)
    .pluck();
  const inSpan = db
    .prepare<[number, number, number, number, Uint8Array, number], number>(/* sql */ `
      SELECT id FROM transfers
      WHERE id >= +? AND id < +? AND kind IN (${NATIVE_KINDS})
        AND (length(amount) > +? OR length(amount) = +? AND amount >= +?)
      ORDER BY id ${order} LIMIT +?`)
    .pluck();
  return (wei, { from, below }, limit, budget) => {
    const bytes = bigIntToBytes(wei);
    const peak = encodeMagnitude(bytes);
    const last = below - 1;
    const spans = spansWithOne.all(
      peak,
      zoneOf(from, 1),
      zoneOf(from, 2),
      peak,
      zoneOf(last, 2),
      zoneOf(last, 1),
      limit + 1, // the first may contain only transfers outside the range
    );
    const ids: number[] = [];
    for (const span of spans) {
      budget.spend(ZONE_SPAN);
      const start = Math.max(from, span * ZONE_SPAN);
      const end = Math.min(below, (span + 1) * ZONE_SPAN);
      ids.push(...inSpan.all(start, end, bytes.length, bytes.length, bytes, limit - ids.length));
      if (ids.length === limit) break;
    }
    return ids;
  };
}
