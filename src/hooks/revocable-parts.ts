/** Events that were sent and that a reorg may still withdraw, in `hooks.db`. The index has them no more by then. */

import type { Part, TrailCursor } from '../follower/trail.ts';
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';
import type { Delivery } from './delivery.ts';

/** Events of one block that were sent together. */
export interface RevocableEvents {
  number: number;
  hash: Hex;
  /** In delivery order. */
  events: readonly Delivery[];
}

/** A stored `RevocableEvents`. */
export interface RevocablePart extends Part {
  id: number;
}

/** Methods that write belong into a transaction of the caller. */
export class RevocableParts {
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  /** The parts sent from `cursor` on, whose acceptance is unknown. In the middle of a block also its accepted parts. */
  attempted(hook: number, { number, position }: TrailCursor): RevocablePart[] {
    return this.list(hook, position === null ? number + 1 : number);
  }

  /** The parts of blocks from `from` on, in reverse delivery order. */
  list(hook: number, from = 0): RevocablePart[] {
    return this.db
      .prepare<[number, number], { id: number; number: number; hash: Buffer; withdrawn: number }>(
        'SELECT id, block AS number, hash, withdrawn FROM revocable WHERE hook = ? AND block >= ? ORDER BY id DESC',
      )
      .all(hook, from)
      .map((row) => ({ ...row, hash: bytesToHex(row.hash), withdrawn: row.withdrawn === 1 }));
  }

  isWithdrawing(hook: number): boolean {
    return (
      this.db.prepare('SELECT 1 FROM revocable WHERE hook = ? AND withdrawn = 1 LIMIT 1').get(hook) !==
      undefined
    );
  }

  events(part: number): Record<string, unknown>[] {
    const events = this.db
      .prepare<[number], string>('SELECT events FROM revocable WHERE id = ?')
      .pluck()
      .get(part);
    return JSON.parse(events ?? '[]');
  }

  /** Adds events that are about to be sent from `cursor` on, without those of earlier attempts. */
  add(hook: number, cursor: TrailCursor, revocable: readonly RevocableEvents[]): void {
    const insert = this.db.prepare(
      'INSERT INTO revocable (hook, block, hash, withdrawn, events) VALUES (?, ?, ?, 0, ?)',
    );
    const known = new Set(
      this.attempted(hook, cursor).flatMap(({ id }) => this.events(id).map(({ deliveryId }) => deliveryId)),
    );
    for (const { number, hash, events } of revocable) {
      const added = events.filter(({ deliveryId }) => !known.has(deliveryId));
      if (added.length > 0) insert.run(hook, number, hexToBytes(hash), JSON.stringify(added));
    }
  }

  beginWithdrawal(parts: readonly RevocablePart[]): void {
    const mark = this.db.prepare('UPDATE revocable SET withdrawn = 1 WHERE id = ?');
    for (const { id } of parts) mark.run(id);
  }

  /** Keeps only these events of a part. */
  keep(part: number, events: readonly object[]): void {
    if (events.length === 0) this.db.prepare('DELETE FROM revocable WHERE id = ?').run(part);
    else this.db.prepare('UPDATE revocable SET events = ? WHERE id = ?').run(JSON.stringify(events), part);
  }

  /** Removes the events of blocks up to `block`, which must be final and accepted. Returns them in delivery order. */
  takeUpTo(hook: number, block: number): { block: number; events: Delivery[] }[] {
    const taken = this.db
      .prepare<[number, number], { block: number; events: string }>(
        'SELECT block, events FROM revocable WHERE hook = ? AND block <= ? AND withdrawn = 0 ORDER BY id',
      )
      .all(hook, block)
      .map(({ block, events }) => ({ block, events: JSON.parse(events) }));
    if (taken.length > 0)
      this.db
        .prepare('DELETE FROM revocable WHERE hook = ? AND block <= ? AND withdrawn = 0')
        .run(hook, block);
    return taken;
  }

  forgetAll(hook: number): void {
    this.db.prepare('DELETE FROM revocable WHERE hook = ?').run(hook);
  }
}
