/** Compares the zone map with the transfers. */
import { setImmediate } from 'node:timers/promises';
import type { Random } from '../lib/random.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { type Db, inReadTransaction } from '../store/open-database.ts';
import { ZONE_SPAN, zoneOf } from '../store/zone-map.ts';
import { decodeAmount } from '../tokens/transfer-row.ts';
import { type Check, storedNumber } from './report.ts';
import { sampleRange } from './sample.ts';

/** Sampled spans of the upper level. Each takes 256 times the work of a lower one. */
const UPPER_SPANS = 2;

/** Levels of spans. */
const LEVELS = [1, 2] as const;

/** Checks up to `sample` spans of the lower level; `last` is the id of the last transfer. */
export function checkZoneMap(
  db: Db,
  check: Check,
  { sample, random, last }: { sample: number; random: Random; last: number },
): void {
  const compare = peakComparer(db, check);
  checkLastSpans(db, check, last);
  for (const level of LEVELS) {
    const count = level === 1 ? sample : UPPER_SPANS;
    for (const span of sampleRange(random, 0, zoneOf(last, level), count)) compare(level, span);
  }
}

/** Checks every complete span, in short reads. `last` is the id of the last transfer of a block. */
export async function checkAllPeaks(
  db: Db,
  check: Check,
  { last, signal }: { last: number; signal: AbortSignal },
): Promise<void> {
  const compare = peakComparer(db, check);
  inReadTransaction(db, () => checkLastSpans(db, check, last));
  for (const level of LEVELS) {
    const spansPerRead = ZONE_SPAN ** (2 - level);
    for (let at = 0; at <= zoneOf(last, level) && !signal.aborted; at += spansPerRead) {
      inReadTransaction(db, () => {
        const end = Math.min(at + spansPerRead - 1, zoneOf(last, level));
        for (let span = at; span <= end; span++) compare(level, span);
      });
      await setImmediate();
    }
  }
}

/** Checks that there are no spans above the last transfer. */
function checkLastSpans(db: Db, check: Check, last: number): void {
  const lastKept = db
    .prepare<[number], number | null>('SELECT max(span) FROM native_peaks WHERE level = ?')
    .pluck();
  const levels = db.prepare<[], number>('SELECT DISTINCT level FROM native_peaks').pluck().all();
  for (const level of levels) {
    const lastSpan = level === 1 || level === 2 ? zoneOf(last, level) : -1;
    const kept = lastKept.get(level) ?? 0;
    if (kept > lastSpan)
      check.addDifference(`native_peaks has span ${kept} of level ${level}, but ${lastSpan} is the last one`);
  }
}

/** Compares one span of a level. */
function peakComparer(db: Db, check: Check): (level: number, span: number) => void {
  const peak = db
    .prepare<[number, number], Buffer>(
      'SELECT CAST(peak AS BLOB) FROM native_peaks WHERE level = ? AND span = ?',
    )
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
  return (level, span) => {
    const size = ZONE_SPAN ** level;
    const [from, below] = [span * size, (span + 1) * size];
    const kept = peak.get(level, span);
    check.expect(
      `the largest native transfer of ${from} to ${below - 1}`,
      kept === undefined ? null : storedNumber(kept),
      largestOf(from, below),
    );
  };
}
