/**
 * Blocks by time. On some chains a block is earlier than one before it, so lookups use the time of a block: the latest
 * timestamp up to and with it, which never falls. It follows from the block's own timestamp and `time_falls`, which has
 * no rows where timestamps never fall.
 */
import type { Db, Statement } from './open-database.ts';

/** A block's own timestamp and the time of the last fall up to it, 0 for none, both Unix seconds. */
interface TimeRow {
  timestamp: number;
  fall: number;
}

const TIME_ROW = /* sql */ `
  SELECT timestamp, ifnull(
    (SELECT time FROM time_falls WHERE first <= blocks.number ORDER BY first DESC LIMIT 1), 0) AS fall
  FROM blocks WHERE number = +?`;

/** The writes to `time_falls`. The caller opens the transaction; a rollback removes the rows above its block. */
export class TimeFallTable {
  private readonly rowOf: Statement<[number], TimeRow>;
  private readonly insert: Statement;

  constructor(db: Db) {
    this.rowOf = db.prepare<[number], TimeRow>(TIME_ROW);
    this.insert = db.prepare('INSERT INTO time_falls (first, time) VALUES (?, ?)');
  }

  /** Appends consecutive blocks, which `blocks` has already: their numbers and timestamps. */
  append(numbers: ArrayLike<number>, timestamps: ArrayLike<number>): void {
    let { timestamp: latest, fall } = this.rowOf.get((numbers[0] ?? 0) - 1) ?? { timestamp: 0, fall: 0 };
    latest = Math.max(latest, fall);
    for (let i = 0; i < numbers.length; i++) {
      const timestamp = timestamps[i]!;
      if (timestamp >= latest) latest = timestamp;
      else if (fall < latest) {
        this.insert.run(numbers[i], latest);
        fall = latest;
      }
    }
  }
}

/** A range of indexed blocks. */
interface IndexedRange {
  startBlock: number;
  /** The last one. */
  number: number;
}

/** The time of an indexed block, Unix seconds; 0 for any other block. */
export function prepareTimeOf(db: Db): (number: number) => number {
  const rowOf = db.prepare<[number], TimeRow>(TIME_ROW);
  return (number) => {
    const row = rowOf.get(number);
    return row === undefined ? 0 : Math.max(row.timestamp, row.fall);
  };
}

/** The last indexed block with a time of at most `time`, Unix seconds; the block before the first one if none has. */
export function prepareLastBlockUpTo(db: Db): (range: IndexedRange, time: number) => number {
  const timeOf = prepareTimeOf(db);
  return ({ number, startBlock }, time) => {
    let [low, high] = [startBlock - 1, number];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (timeOf(middle) <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  };
}

/**
 * The block from which to measure growth over the last `seconds` before the head's own timestamp, and the seconds from
 * its time to that timestamp: more than asked for if blocks are rare, fewer if the index is short, 0 or negative while
 * it spans no time. After a block far in the future, the growth is that since the block before it, over the time that
 * really passed: by the time of the head, it would be that of centuries.
 */
export function prepareGrowthBase(
  db: Db,
): (head: IndexedRange & { timestamp: number }, seconds: number) => { block: number; seconds: number } {
  const timeOf = prepareTimeOf(db);
  const lastBlockUpTo = prepareLastBlockUpTo(db);
  return (head, seconds) => {
    const block = Math.max(head.startBlock, lastBlockUpTo(head, head.timestamp - seconds));
    return { block, seconds: head.timestamp - timeOf(block) };
  };
}
