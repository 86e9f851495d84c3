/**
 * What was pushed of the newest blocks: on a reorg the index has lost these transfers by the time it is heard of, and
 * they have to be told again as removed. To whom is not kept: it follows from the transfers themselves.
 */
import type { EventRow } from '../query/events.ts';
import { REORG_BLOCKS } from './reorg-memory.ts';
import type { Watcher } from './watcher.ts';

/** What all of it may take, bytes; and a row with its strings and its places in the maps, roughly. */
const MAX_BYTES = 32 * 2 ** 20;
const ROW_BYTES = 600;
const MAX_ROWS = Math.floor(MAX_BYTES / ROW_BYTES);
/** A whole block forgotten at once would hold the event loop. */
const FORGOTTEN_PER_ROW = 2;

export class PushedTransfers {
  private readonly handedTo: (row: EventRow) => readonly Watcher[];
  private readonly blocks = new Map<number, EventRow[]>();
  /** Of all those rows. */
  private readonly ids = new Set<number>();
  private lowestBlock = Number.POSITIVE_INFINITY;

  /** `handedTo` gives the watchers that a pushed transfer was handed, whether they wanted it or not. */
  constructor(handedTo: (row: EventRow) => readonly Watcher[]) {
    this.handedTo = handedTo;
  }

  /** Takes note that a transfer was just pushed to `watchers`, while the index stood at block `head`. */
  add(row: EventRow, watchers: readonly Watcher[], head: number): void {
    const old = head - REORG_BLOCKS;
    if (row.blockNumber <= old) return forget(row, watchers);
    this.keep(row);
    for (let i = 0; i < FORGOTTEN_PER_ROW; i++) {
      if (this.ids.size > MAX_ROWS || this.lowestBlock <= old) this.forgetLowest();
    }
  }

  /** Takes out what was pushed of blocks above `to`, newest first. */
  takeAbove(to: number): EventRow[] {
    const above = [...this.blocks.keys()].filter((number) => number > to);
    return above.flatMap((number) => this.takeBlock(number)).sort((a, b) => b.id - a.id);
  }

  /** Nobody is left who was told anything. */
  clear(): void {
    this.blocks.clear();
    this.ids.clear();
    this.lowestBlock = Number.POSITIVE_INFINITY;
  }

  private keep(row: EventRow): void {
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

  /** Lets one transfer of the lowest block go: that one is the least likely to be taken back. */
  private forgetLowest(): void {
    const row = this.blocks.get(this.lowestBlock)?.pop();
    if (row === undefined) return this.deleteBlock(this.lowestBlock);
    this.ids.delete(row.id);
    forget(row, this.handedTo(row));
  }

  private deleteBlock(number: number): void {
    this.blocks.delete(number);
    if (number === this.lowestBlock) this.lowestBlock = Math.min(...this.blocks.keys());
  }
}

function forget(row: EventRow, watchers: readonly Watcher[]): void {
  for (const watcher of watchers) {
    if (watcher.forgotten < row.blockNumber && watcher.wants(row)) watcher.forgotten = row.blockNumber;
  }
}
