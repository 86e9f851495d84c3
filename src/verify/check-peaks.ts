/** Compares the largest native transfer of sampled spans with the transfers themselves. */
import { decodeSigned } from '../lib/signed.ts';
import { PEAK_SPAN, spanOf } from '../store/native-peaks.ts';
import type { Db } from '../store/open-database.ts';
import { TransferKind } from '../types.ts';
import { decodeAmount } from './recount.ts';
import type { Check } from './report.ts';
import { type Random, sampleRange } from './sample.ts';

/** Spans sampled of the upper level; each is 256 times the work of a lower one. */
const UPPER_SPANS = 2;

/** Checks up to `sample` spans of the lower level; `last` is the id of the last transfer. */
export function checkPeaks(
  db: Db,
  check: Check,
  { sample, random, last }: { sample: number; random: Random; last: number },
): void {
  const peak = db
    .prepare<[number, number], Buffer>('SELECT peak FROM native_peaks WHERE level = ? AND span = ?')
    .pluck();
  const lastKept = db
    .prepare<[number], number | null>('SELECT max(span) FROM native_peaks WHERE level = ?')
    .pluck();
  const amounts = db
    .prepare<[number, number, number, number], Buffer>(
      'SELECT amount FROM transfers WHERE id >= ? AND id < ? AND kind IN (?, ?)',
    )
    .pluck();
  const largestOf = (from: number, below: number): bigint | null => {
    let largest: bigint | null = null;
    for (const amount of amounts.iterate(
      from,
      below,
      TransferKind.nativeDirect,
      TransferKind.nativeInternal,
    )) {
      const wei = decodeAmount(amount);
      if (largest === null || wei > largest) largest = wei;
    }
    return largest;
  };
  for (const [level, count] of [
    [1, sample],
    [2, UPPER_SPANS],
  ] as const) {
    const size = PEAK_SPAN ** level;
    const lastSpan = spanOf(last, level);
    const kept = lastKept.get(level) ?? 0;
    if (kept > lastSpan)
      check.addDifference(`native_peaks has span ${kept} of level ${level}, but ${lastSpan} is the last one`);
    for (const span of sampleRange(random, 0, lastSpan, count)) {
      const [from, below] = [span * size, (span + 1) * size];
      const kept = peak.get(level, span);
      check.expect(
        `the largest native transfer of ${from} to ${below - 1}`,
        kept === undefined ? null : decodeSigned(kept),
        largestOf(from, below),
      );
    }
  }
}
