/**
 * Keeps the pushed transfers of the newest blocks. After a reorg they must be pushed again as removed, but by then the
 * index has deleted them. Recipients are not stored; they follow from the transfers.
 */
import { MAX_REORG_DEPTH } from '../../chain/block.ts';
import type { EventRow } from '../../query/events.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** Memory limit of the buffer, bytes. */
const MAX_BYTES = 32 * 2 ** 20;
/** Approximate size of a row with its strings and map entries, bytes. */
const ROW_BYTES = 600;
const MAX_ROWS = Math.floor(MAX_BYTES / ROW_BYTES);
/** Rows evicted for each row added: evicting a whole block at once would block the event loop. */
const EVICTIONS_PER_ROW = 2;

export class ReorgBuffer {
  private readonly recipientsOf: (row: EventRow) => readonly TransferSubscription[];
  private readonly blocks = new Map<number, EventRow[]>();
  /** Ids of the rows in `blocks`. */
  private readonly ids = new Set<number>();
  private lowestBlock = Number.POSITIVE_INFINITY;

  /** `recipientsOf` returns the subscribers that a pushed transfer was offered to, whether they wanted it or not. */
  constructor(recipientsOf: (row: EventRow) => readonly TransferSubscription[]) {
    this.recipientsOf = recipientsOf;
  }

  /** Adds a transfer just pushed to `subscribers` while the index was at block `head`. */
  add(row: EventRow, subscribers: readonly TransferSubscription[], head: number): void {
    const old = head - MAX_REORG_DEPTH;
    if (row.blockNumber <= old) return markEvicted(row, subscribers);
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

  /** Call it when no subscriber is left. */
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

  /** Evicts one transfer of the lowest block, which is the least likely to be removed by a reorg. */
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

function markEvicted(row: EventRow, subscribers: readonly TransferSubscription[]): void {
  for (const subscriber of subscribers) {
    if (subscriber.evictedBlock < row.blockNumber && subscriber.wants(row))
      subscriber.evictedBlock = row.blockNumber;
  }
}
