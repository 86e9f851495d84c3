/**
 * `logs`: the logs of every block in order, fetched once per block for all subscribers. On a reorg, the logs of removed
 * blocks are sent again with `removed: true`, oldest block first as in geth, then those of the new blocks.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ChainBlock, MAX_REORG_DEPTH } from '../../chain/block.ts';
import type { ChainListener, ChainTracker } from '../../chain/tracker.ts';
import type { Logger } from '../../log/logger.ts';
import { type CloseFrame, DEEP_REORG, LOGS_BEHIND } from '../close.ts';
import { awaitUpstream } from '../subscribe-errors.ts';
import { Notification, type Subscription, type Unsubscribe } from '../subscription.ts';
import { MAX_TURN_MS } from '../transfers/turn-loop.ts';
import {
  fetchBlockLogs,
  type LogsClient,
  MAX_QUEUED_BLOCKS,
  reportLogsUnavailable,
  type SerializedLog,
} from './fetch-block-logs.ts';
import { type LogFilter, type LogSubscriber, LogSubscribers } from './log-filter.ts';

/** Concurrent fetches of block logs while catching up. */
const MAX_FETCHES = 8;

interface Added {
  kind: 'added';
  block: ChainBlock;
  sequence: number;
  fetched?: Promise<SerializedLog[] | null>;
}

interface Removed {
  kind: 'removed';
  blocks: readonly ChainBlock[];
}

export class LogStream implements ChainListener {
  private readonly chain: Pick<ChainTracker, 'acquire'>;
  private readonly client: LogsClient;
  private readonly log: Logger;
  private readonly stop = new AbortController();
  private readonly subscribers = new LogSubscribers();
  private queue: (Added | Removed)[] = [];
  private isDraining = false;
  /** Blocks added so far. */
  private sequence = 0;
  private fetchesInFlight = 0;
  private readonly delivered = new DeliveredLogs();

  constructor(chain: Pick<ChainTracker, 'acquire' | 'addListener'>, client: LogsClient, log: Logger) {
    this.chain = chain;
    this.client = client;
    this.log = log;
    chain.addListener(this);
  }

  async subscribe(filter: LogFilter, subscription: Subscription): Promise<Unsubscribe> {
    const release = await awaitUpstream(this.chain.acquire());
    const subscriber = { filter, subscription, since: this.sequence };
    this.subscribers.add(subscriber);
    return () => {
      this.subscribers.delete(subscriber);
      if (this.subscribers.all.size === 0) this.dropQueued();
      release();
    };
  }

  close(): void {
    this.stop.abort();
  }

  onBlockAdded(block: ChainBlock): void {
    this.sequence++;
    if (this.subscribers.all.size === 0) return;
    this.enqueue({ kind: 'added', block, sequence: this.sequence });
  }

  onBlocksRemoved(blocks: readonly ChainBlock[]): void {
    if (this.subscribers.all.size > 0) this.enqueue({ kind: 'removed', blocks });
  }

  onDeepReorg(): void {
    this.closeAll(DEEP_REORG);
    this.delivered.clear();
  }

  private enqueue(event: Added | Removed): void {
    this.queue.push(event);
    if (this.queue.length > MAX_QUEUED_BLOCKS) return this.overflow();
    this.prefetch();
    void this.drainQueue();
  }

  /** The node serves logs more slowly than blocks arrive, or was unreachable for too long. */
  private overflow(): void {
    this.dropQueued();
    this.closeAll(LOGS_BEHIND);
  }

  /** Drops all queued events except the one being delivered. */
  private dropQueued(): void {
    this.queue.splice(1);
  }

  private prefetch(): void {
    for (const event of this.queue) {
      if (this.fetchesInFlight >= MAX_FETCHES) return;
      if (event.kind === 'added') void this.fetchLogs(event);
    }
  }

  private fetchLogs(event: Added): Promise<SerializedLog[] | null> {
    if (event.fetched === undefined) {
      this.fetchesInFlight++;
      event.fetched = fetchBlockLogs(this.client, event.block, this.stop.signal).finally(
        () => this.fetchesInFlight--,
      );
      event.fetched.catch(() => undefined); // `deliver` awaits the fetch when the block is first in the queue
    }
    return event.fetched;
  }

  private async drainQueue(): Promise<void> {
    if (this.isDraining) return;
    this.isDraining = true;
    for (let event = this.queue[0]; event !== undefined; event = this.queue[0]) {
      if (event.kind === 'removed') await this.publishRemoved(event.blocks);
      else await this.deliver(event);
      this.queue.shift();
      this.prefetch();
    }
    this.isDraining = false;
  }

  private async deliver(event: Added): Promise<void> {
    const { block, sequence } = event;
    try {
      const logs = await this.fetchLogs(event);
      if (logs !== null && !block.orphaned) await this.publishBlock(block, sequence, logs);
    } catch (error) {
      this.closeAll(reportLogsUnavailable(error, block, this.log));
    }
  }

  private async publishBlock(
    block: ChainBlock,
    sequence: number,
    logs: readonly SerializedLog[],
  ): Promise<void> {
    const pushed: SerializedLog[] = [];
    await forEachInTurns(logs, (log) => {
      if (this.publish(log, log.json, block.number, sequence)) pushed.push(log);
    });
    // Record all logs at once: a deep reorg may clear the records between two pushes.
    this.delivered.record(block.hash, sequence, pushed);
  }

  private async publishRemoved(blocks: readonly ChainBlock[]): Promise<void> {
    for (const { hash, number } of blocks) {
      // Take the record before the first push: a deep reorg may clear the records between two pushes.
      const delivered = this.delivered.take(hash);
      if (delivered === undefined) continue;
      const { logs, sequence } = delivered;
      if (logs === null) return this.onDeepReorg();
      await forEachInTurns(logs, (log) => this.publish(log, removedJson(log), number, sequence));
    }
  }

  /**
   * Pushes a log to the matching subscribers that subscribed before block `sequence`. Returns whether there were any.
   */
  private publish(log: SerializedLog, json: string, blockNumber: number, sequence: number): boolean {
    let notification: Notification | undefined;
    this.subscribers.forEachMatch(log, blockNumber, ({ since, subscription }: LogSubscriber) => {
      if (since >= sequence) return;
      notification ??= new Notification('eth_subscription', json);
      subscription.push(notification);
    });
    return notification !== undefined;
  }

  private closeAll(frame: CloseFrame): void {
    for (const { subscription } of this.subscribers.all) subscription.connection.close(...frame);
  }
}

/** Yields to the event loop whenever a turn takes too long. */
async function forEachInTurns<T>(items: readonly T[], action: (item: T) => void): Promise<void> {
  let deadline = performance.now() + MAX_TURN_MS;
  for (const item of items) {
    action(item);
    if (performance.now() < deadline) continue;
    await nextTurn();
    deadline = performance.now() + MAX_TURN_MS;
  }
}

function removedJson({ json }: SerializedLog): string {
  return JSON.stringify({ ...JSON.parse(json), removed: true });
}

const MAX_BYTES = 16 * 2 ** 20;

/** The logs of a block that were pushed to at least one client; null when too large to keep. */
interface Delivered {
  /** Only subscribers from before this block, counted like LogStream.sequence, received the logs. */
  sequence: number;
  logs: SerializedLog[] | null;
  bytes: number;
}

class DeliveredLogs {
  private readonly blocks = new Map<string, Delivered>();
  private bytes = 0;

  record(hash: string, sequence: number, logs: SerializedLog[]): void {
    if (logs.length === 0) return;
    const bytes = logs.reduce((sum, { json }) => sum + json.length, 0);
    // A branch may return before its removal was published.
    this.bytes += bytes - (this.blocks.get(hash)?.bytes ?? 0);
    this.blocks.set(hash, { sequence, logs, bytes });
    this.evict();
  }

  /** Removes and returns the record of a block; undefined without one. */
  take(hash: string): Readonly<Delivered> | undefined {
    const delivered = this.blocks.get(hash);
    if (delivered === undefined) return undefined;
    this.bytes -= delivered.bytes;
    this.blocks.delete(hash);
    return delivered;
  }

  clear(): void {
    this.blocks.clear();
    this.bytes = 0;
  }

  /** Drops blocks too old for a reorg, and the logs of the oldest ones when they exceed the memory limit. */
  private evict(): void {
    for (const hash of this.blocks.keys()) {
      if (this.blocks.size <= MAX_REORG_DEPTH) break;
      this.take(hash);
    }
    for (const delivered of this.blocks.values()) {
      if (this.bytes <= MAX_BYTES) break;
      this.bytes -= delivered.bytes;
      delivered.logs = null;
      delivered.bytes = 0;
    }
  }
}
