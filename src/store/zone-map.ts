/** The zone map (table `native_peaks`): the largest native transfer of each span, updated as blocks come and go. */
import { encodeMagnitude } from '../lib/signed.ts';
import { NATIVE_KINDS } from '../model/transfer-kind.ts';
import type { Db, Statement } from './open-database.ts';

/** Transfers per span of level 1, and spans of one level per span of the next. */
export const ZONE_SPAN = 256;

/** With two levels, a search that skips a span of the upper level skips 65,536 transfers. */
const LEVELS = [1, 2] as const;

/** The span of a level that contains a transfer. Divides instead of shifting, because ids may exceed 2^31. */
export function zoneOf(transfer: number, level: number): number {
  return Math.floor(transfer / ZONE_SPAN ** level);
}

/** The spans that one commit touches. */
export class ZoneMap {
  private readonly table: ZoneMapTable;
  /** Indexed by level - 1: the largest amount of each span, as shortest big-endian bytes. */
  private readonly peaks = LEVELS.map(() => new Map<number, Uint8Array>());

  constructor(table: ZoneMapTable) {
    this.table = table;
  }

  /** Records a native transfer. Copies `wei`. */
  record(transfer: number, wei: Uint8Array): void {
    for (const level of LEVELS) {
      const peaks = this.peaks[level - 1]!;
      const span = zoneOf(transfer, level);
      const known = peaks.get(span);
      if (known !== undefined && compareMagnitudes(wei, known) <= 0) continue;
      peaks.set(span, wei.slice());
    }
  }

  save(): void {
    for (const level of LEVELS) {
      for (const [span, wei] of this.peaks[level - 1]!) this.table.raise(level, span, encodeMagnitude(wei));
    }
  }
}

/** The statements on `native_peaks`. */
export class ZoneMapTable {
  private readonly upsert: Statement;
  private readonly deleteSpans: Statement;
  private readonly nativeTransfersFrom: Statement<[number], { id: number; amount: Buffer }>;
  private readonly raiseFromLower: Statement;

  constructor(db: Db) {
    const keepLarger = 'ON CONFLICT (level, span) DO UPDATE SET peak = max(peak, excluded.peak)';
    this.upsert = db.prepare(`INSERT INTO native_peaks (level, span, peak) VALUES (?, ?, ?) ${keepLarger}`);
    this.deleteSpans = db.prepare('DELETE FROM native_peaks WHERE level = ? AND span >= ?');
    this.nativeTransfersFrom = db.prepare(/* sql */ `
      SELECT id, amount FROM transfers WHERE id >= ? AND kind IN (${NATIVE_KINDS})`);
    this.raiseFromLower = db.prepare(/* sql */ `
      INSERT INTO native_peaks (level, span, peak)
      SELECT ?, ?, max(peak) FROM native_peaks WHERE level = ? AND span >= ? HAVING count(*) > 0 ${keepLarger}`);
  }

  /** Raises the peak of a span to at least `peak`. */
  raise(level: number, span: number, peak: Uint8Array): void {
    this.upsert.run(level, span, peak);
  }

  /** Recomputes the affected spans after the transfers above `last` were removed. */
  rollback(last: number): void {
    for (const level of LEVELS) this.deleteSpans.run(level, zoneOf(last, level));
    const affected = new ZoneMap(this);
    for (const { id, amount } of this.nativeTransfersFrom.iterate(zoneOf(last, 1) * ZONE_SPAN))
      affected.record(id, amount);
    affected.save();
    for (const level of LEVELS.slice(1)) {
      const span = zoneOf(last, level);
      this.raiseFromLower.run(level, span, level - 1, span * ZONE_SPAN);
    }
  }
}

/** Compares shortest big-endian bytes as numbers. */
function compareMagnitudes(a: Uint8Array, b: Uint8Array): number {
  return a.length - b.length || Buffer.compare(a, b);
}
