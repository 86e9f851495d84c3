/**
 * What was pushed of the newest blocks, and to whom: on a reorg the index has lost these transfers by the time it is
 * heard of, and they have to be told again as removed.
 */
import type { EventRow } from '../query/events.ts';
import { REORG_BLOCKS } from './reorg-memory.ts';
import type { Watcher } from './watcher.ts';

/** What all of it may take, roughly. */
const MAX_BYTES = 32 * 2 ** 20;
/** A row with its strings, and one watcher in a list. */
const ROW_BYTES = 900;
const WATCHER_BYTES = 8;

interface Pushed {
  row: EventRow;
  watchers: readonly Watcher[];
}

export class PushedTransfers {
  /** By transfer id, in the order of pushing. */
  private readonly entries = new Map<number, Pushed>();
  private bytes = 0;

  /** Takes note that a transfer was pushed while the index stood at block `head`. */
  add(row: EventRow, watchers: readonly Watcher[], head: number): void {
    if (row.blockNumber <= head - REORG_BLOCKS) return forget(row, watchers);
    const known = this.entries.get(row.id);
    if (known === undefined) {
      this.entries.set(row.id, { row, watchers });
      this.bytes += sizeOf(watchers);
    } else {
      this.bytes -= sizeOf(known.watchers);
      known.watchers = [...known.watchers, ...watchers];
      this.bytes += sizeOf(known.watchers);
    }
    this.makeRoom(head - REORG_BLOCKS);
  }

  /** Takes out what was pushed of blocks above `to`, newest first. */
  takeAbove(to: number): Pushed[] {
    const taken = [...this.entries.values()].filter(({ row }) => row.blockNumber > to);
    for (const { row, watchers } of taken) {
      this.entries.delete(row.id);
      this.bytes -= sizeOf(watchers);
    }
    return taken.sort((a, b) => b.row.id - a.row.id);
  }

  /** Nobody is left who was told anything. */
  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }

  /** Lets the oldest go: those up to block `old`, and more while they take too much. */
  private makeRoom(old: number): void {
    for (const [id, { row, watchers }] of this.entries) {
      if (this.bytes <= MAX_BYTES && row.blockNumber > old) return;
      this.entries.delete(id);
      this.bytes -= sizeOf(watchers);
      forget(row, watchers);
    }
  }
}

function forget(row: EventRow, watchers: readonly Watcher[]): void {
  for (const watcher of watchers) watcher.forgotten = Math.max(watcher.forgotten, row.blockNumber);
}

function sizeOf(watchers: readonly Watcher[]): number {
  return ROW_BYTES + watchers.length * WATCHER_BYTES;
}
