/**
 * Final events that were sent, in `hooks.db`. A repair may read their blocks again and find others: the index has the
 * old rows no more by then. The hook gets the events of these blocks again; those that do not come again are withdrawn.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Db } from '../store/open-database.ts';
import { type Delivery, withdrawalOf } from './delivery.ts';

/** Most compressed bytes of all hooks, and of one. The oldest events are forgotten first. */
const MAX_BYTES = 256 * 2 ** 20;
const MAX_BYTES_OF_HOOK = 4 * 2 ** 20;
/** Rows between two checks of the bounds. */
const ROWS_PER_CHECK = 32;

interface Row {
  id: number;
  block: number;
  events: Buffer;
}

/** Blocks that a hook passes with a message: `first` to `last`. */
export interface PassedBlocks {
  first: number;
  last: number;
}

/** Events that do not come again. */
export interface Vanished {
  /** Their withdrawals, newest event first. */
  deliveries: Delivery[];
  /** The other events of the rows that the deliveries come from. */
  rows: { id: number; left: readonly object[] }[];
}

/** Methods that write belong into a transaction of the caller. */
export class SettledEvents {
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  /** Adds events of one block, in delivery order. */
  add(hook: number, block: number, events: readonly object[]): void {
    const { lastInsertRowid } = this.db
      .prepare('INSERT INTO settled (hook, block, doubtful, events) VALUES (?, ?, 0, ?)')
      .run(hook, block, pack(events));
    if (Number(lastInsertRowid) % ROWS_PER_CHECK === 0) this.trim(hook);
  }

  /** A repair has read the blocks from `from` on again. */
  doubt(hook: number, from: number): void {
    this.db.prepare('UPDATE settled SET doubtful = 1 WHERE hook = ? AND block >= ?').run(hook, from);
  }

  /** The hook has passed all blocks up to `block`, and what vanished there is withdrawn. */
  confirm(hook: number, block: number): void {
    this.db.prepare('DELETE FROM settled WHERE hook = ? AND doubtful = 1 AND block <= ?').run(hook, block);
  }

  /**
   * The doubtful events of passed blocks that were not sent again, at most `limit`. `isAgain`: whether an event is
   * about to be sent, or was sent from the middle of its block.
   */
  vanished(
    hook: number,
    { first, last }: PassedBlocks,
    isAgain: (deliveryId: string, block: number) => boolean,
    limit: number,
  ): Vanished {
    const found: Vanished = { deliveries: [], rows: [] };
    const doubtful = this.db.prepare<[number, number, number], Row>(/* sql */ `
      SELECT id, block, events FROM settled WHERE hook = ? AND doubtful = 1 AND block BETWEEN ? AND ?
      ORDER BY block DESC, id DESC`);
    let sent = { block: -1, ids: new Set<string>() };
    for (const { id, block, events: packed } of doubtful.all(hook, first, last)) {
      if (found.deliveries.length >= limit) break;
      if (sent.block !== block) sent = { block, ids: this.sentAgain(hook, block) };
      const events = unpack(packed);
      const gone = events.filter(
        ({ deliveryId }) => !sent.ids.has(deliveryId) && !isAgain(deliveryId, block),
      );
      const taken = gone.reverse().slice(0, limit - found.deliveries.length);
      if (taken.length === 0) continue;
      found.deliveries.push(...taken.map((event) => withdrawalOf(hook, event)));
      found.rows.push({ id, left: events.filter((event) => !taken.includes(event)) });
    }
    return found;
  }

  /** Keeps only these events of a row. */
  keep(row: number, events: readonly object[]): void {
    if (events.length === 0) this.db.prepare('DELETE FROM settled WHERE id = ?').run(row);
    else this.db.prepare('UPDATE settled SET events = ? WHERE id = ?').run(pack(events), row);
  }

  forgetAll(hook: number): void {
    this.db.prepare('DELETE FROM settled WHERE hook = ?').run(hook);
  }

  private sentAgain(hook: number, block: number): Set<string> {
    const rows = this.db
      .prepare<[number, number], Buffer>(
        'SELECT events FROM settled WHERE hook = ? AND block = ? AND doubtful = 0',
      )
      .pluck()
      .all(hook, block);
    return new Set(rows.flatMap((packed) => unpack(packed).map(({ deliveryId }) => deliveryId)));
  }

  private trim(hook: number): void {
    const hooks = this.db.prepare<[], number>('SELECT count(DISTINCT hook) FROM settled').pluck().get() ?? 1;
    const most = Math.min(MAX_BYTES_OF_HOOK, MAX_BYTES / hooks);
    let bytes = 0;
    const sizes = this.db.prepare<[number], { id: number; bytes: number }>(
      'SELECT id, length(events) AS bytes FROM settled WHERE hook = ? ORDER BY id DESC',
    );
    for (const row of sizes.all(hook)) {
      bytes += row.bytes;
      if (bytes <= most) continue;
      this.db.prepare('DELETE FROM settled WHERE hook = ? AND id <= ?').run(hook, row.id);
      return;
    }
  }
}

function pack(events: readonly object[]): Buffer {
  return deflateRawSync(JSON.stringify(events));
}

function unpack(packed: Buffer): Delivery[] {
  return JSON.parse(inflateRawSync(packed).toString());
}
