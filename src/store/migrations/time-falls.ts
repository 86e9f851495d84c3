/** Migration 12: the blocks at which time falls. */
import { TimeFallTable } from '../block-times.ts';
import { highest } from '../open-database.ts';
import type { Migration } from './migration.ts';

/** Blocks read per step, which takes a tenth of a second. */
const BLOCKS_PER_STEP = 100_000;

/** Finds the falls among the stored timestamps. The cursor is the next block. Tests read fewer blocks at a time. */
export function timeFalls(perStep: number = BLOCKS_PER_STEP): Migration {
  return {
    version: 12,
    title: 'find blocks that are earlier than one before them',
    end: (db) => highest(db, 'blocks', 'number') + 1,
    step(db, cursor) {
      if (cursor === null) {
        db.exec(/* sql */ `
          CREATE TABLE time_falls (
            first INTEGER PRIMARY KEY,
            time INTEGER NOT NULL
          );`);
        return 0;
      }
      const rows = db
        .prepare<[number, number], { number: number; timestamp: number }>(
          'SELECT number, timestamp FROM blocks WHERE number >= ? ORDER BY number LIMIT ?',
        )
        .all(cursor, perStep);
      const last = rows.at(-1);
      if (last === undefined) return null;
      new TimeFallTable(db).append(
        rows.map(({ number }) => number),
        rows.map(({ timestamp }) => timestamp),
      );
      return last.number + 1;
    },
  };
}
