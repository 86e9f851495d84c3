/**
 * Keeps the pushed transfers of the newest blocks. After a reorg they must be pushed again as removed, when the index
 * has already deleted them. Recipients are not stored, because they follow from the transfers.
 */
import { MAX_REORG_DEPTH } from '../../chain/block.ts';
import type { TransferEvent } from './transfer-event.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** Memory limit of the buffer, bytes. */
const MAX_BYTES = 32 * 2 ** 20;
/** Approximate size of an event with its row and learned facts, bytes. */
const EVENT_BYTES = 900;
const MAX_EVENTS = Math.floor(MAX_BYTES / EVENT_BYTES);
/** Events evicted for each one added. Evicting a whole block at once would block the event loop. */
const EVICTIONS_PER_EVENT = 2;

export class ReorgBuffer {
  private readonly recipientsOf: (event: TransferEvent) => readonly TransferSubscription[];
  private readonly blocks = new Map<number, TransferEvent[]>();
  /** The events in `blocks` by transfer id. */
  private readonly byId = new Map<number, TransferEvent>();
  private lowestBlock = Number.POSITIVE_INFINITY;

  /** `recipientsOf` returns the subscribers that a pushed transfer was offered to, whether they wanted it or not. */
  constructor(recipientsOf: (event: TransferEvent) => readonly TransferSubscription[]) {
    this.recipientsOf = recipientsOf;
  }

  /** Adds a transfer just pushed to `subscribers` while the index was at block `head`. */
  add(event: TransferEvent, subscribers: readonly TransferSubscription[], head: number): void {
    const old = head - MAX_REORG_DEPTH;
    if (event.row.blockNumber <= old) return markEvicted(event, subscribers);
    this.store(event);
    for (let i = 0; i < EVICTIONS_PER_EVENT; i++) {
      if (this.byId.size > MAX_EVENTS || this.lowestBlock <= old) this.evictFromLowest();
    }
  }

  /** Removes and returns the pushed transfers of blocks above `to`, newest first. */
  takeAbove(to: number): TransferEvent[] {
    const above = [...this.blocks.keys()].filter((number) => number > to);
    return above.flatMap((number) => this.takeBlock(number)).sort((a, b) => b.row.id - a.row.id);
  }

  /** Call when no subscriber is left. */
  clear(): void {
    this.blocks.clear();
    this.byId.clear();
    this.lowestBlock = Number.POSITIVE_INFINITY;
  }

  private store(event: TransferEvent): void {
    const { id, blockNumber } = event.row;
    const known = this.byId.get(id);
    if (known !== undefined) return known.learnFrom(event);
    const copy = event.detached();
    this.byId.set(id, copy);
    const block = this.blocks.get(blockNumber);
    if (block !== undefined) return void block.push(copy);
    this.blocks.set(blockNumber, [copy]);
    this.lowestBlock = Math.min(this.lowestBlock, blockNumber);
  }

  private takeBlock(number: number): TransferEvent[] {
    const events = this.blocks.get(number) ?? [];
    for (const { row } of events) this.byId.delete(row.id);
    this.deleteBlock(number);
    return events;
  }

  /** Evicts one transfer of the lowest block, the least likely to be removed by a reorg. */
  private evictFromLowest(): void {
    const event = this.blocks.get(this.lowestBlock)?.pop();
    if (event === undefined) return this.deleteBlock(this.lowestBlock);
    this.byId.delete(event.row.id);
    markEvicted(event, this.recipientsOf(event));
  }

  private deleteBlock(number: number): void {
    this.blocks.delete(number);
    if (number === this.lowestBlock) this.lowestBlock = Math.min(...this.blocks.keys());
  }
}

function markEvicted(event: TransferEvent, subscribers: readonly TransferSubscription[]): void {
  const { blockNumber } = event.row;
  for (const subscriber of subscribers) {
    if (subscriber.evictedBlock < blockNumber && subscriber.wants(event))
      subscriber.evictedBlock = blockNumber;
  }
}
