/**
 * The transfers of the newest blocks that were pushed: when the streams learn of a reorg, the index has already deleted
 * them, and they must be pushed again as removed. The receivers are not stored: they follow from the transfers.
 */
import type { EventRow } from '../query/events.ts';
import { MAX_REORG_DEPTH } from './max-reorg-depth.ts';
import type { Watcher } from './watcher.ts';

/** Most bytes for all of them, and roughly the bytes of one row with its strings and map entries. */
const MAX_BYTES = 32 * 2 ** 20;
const ROW_BYTES = 600;
const MAX_ROWS = Math.floor(MAX_BYTES / ROW_BYTES);
/** Old rows dropped for each row added: dropping a whole block at once would block the event loop. */
const EVICTIONS_PER_ROW = 2;

export class PushedTransfers {
  private readonly recipientsOf: (row: EventRow) => readonly Watcher[];
  private readonly blocks = new Map<number, EventRow[]>();
  /** The ids of all these rows. */
  private readonly ids = new Set<number>();
  private lowestBlock = Number.POSITIVE_INFINITY;

  /** `recipientsOf` gives the watchers that got a pushed transfer to look at, whether they wanted it or not. */
  constructor(recipientsOf: (row: EventRow) => readonly Watcher[]) {
    this.recipientsOf = recipientsOf;
  }

  /** Records that a transfer was just pushed to `watchers` while the index was at block `head`. */
  add(row: EventRow, watchers: readonly Watcher[], head: number): void {
    const old = head - MAX_REORG_DEPTH;
    if (row.blockNumber <= old) return markEvicted(row, watchers);
    this.store(row);
    for (let i = 0; i < EVICTIONS_PER_ROW; i++) {
      if (this.ids.size > MAX_ROWS || this.lowestBlock <= old) this.evictFromLowest();
    }
  }

  /** Removes and returns the pushed transfers of blocks above `to`, newest first. */
  takeAbove(to: number): EventRow[] {
    const above = [...this.blocks.keys()].filter((number) => number > to);
    return above.flatMap((number) => this.takeBlock(number)).sort((a, b) => b.id - a.id);
  }

  /** Forgets all: no watcher is left to which anything was pushed. */
  clear(): void {
    this.blocks.clear();
    this.ids.clear();
    this.lowestBlock = Number.POSITIVE_INFINITY;
  }

  private store(row: EventRow): void {
    if (this.ids.has(row.id)) return;
    this.ids.add(row.id);
    const block = this.blocks.get(row.blockNumber);
    if (block !== undefined) return void block.push(row);
    this.blocks.set(row.blockNumber, [row]);
    this.lowestBlock = Math.min(this.lowestBlock, row.blockNumber);
  }

  private takeBlock(number: number): EventRow[] {
    const rows = this.blocks.get(number) ?? [];
    for (const { id } of rows) this.ids.delete(id);
    this.deleteBlock(number);
    return rows;
  }

  /** Drops one transfer of the lowest block: it is the least likely to be removed by a reorg. */
  private evictFromLowest(): void {
    const row = this.blocks.get(this.lowestBlock)?.pop();
    if (row === undefined) return this.deleteBlock(this.lowestBlock);
    this.ids.delete(row.id);
    markEvicted(row, this.recipientsOf(row));
  }

  private deleteBlock(number: number): void {
    this.blocks.delete(number);
    if (number === this.lowestBlock) this.lowestBlock = Math.min(...this.blocks.keys());
  }
}

function markEvicted(row: EventRow, watchers: readonly Watcher[]): void {
  for (const watcher of watchers) {
    if (watcher.evictedBlock < row.blockNumber && watcher.wants(row)) watcher.evictedBlock = row.blockNumber;
  }
}
