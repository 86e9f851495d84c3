/**
 * `logs`: the logs of every block in order, fetched once per block for all subscribers. On a reorg the logs of the
 * removed blocks are sent again with `removed: true`, oldest block first as in geth, then those of the new blocks.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { RpcClient } from '../upstream/client.ts';
import { type BlockLog, blockLogs, logsRefused, MAX_WAITING } from './block-logs.ts';
import type { Chain, ChainListener } from './chain.ts';
import type { ChainBlock } from './chain-block.ts';
import { type Closing, DEEP_REORG, LOGS_BEHIND } from './closing.ts';
import type { LogFilter } from './log-filter.ts';
import { type LogSubscriber, LogSubscribers } from './log-subscribers.ts';
import { Notice } from './notice.ts';
import { orUnavailable } from './refusals.ts';
import { REORG_BLOCKS } from './reorg-memory.ts';
import type { End } from './session.ts';
import type { Subscription } from './subscription.ts';
import { TURN_MS } from './turn.ts';

/** Blocks whose logs are fetched at the same time while catching up. */
const MAX_FETCHES = 8;
/** Most bytes of delivered logs kept so that they can be sent again as removed. */
const MAX_DELIVERED_BYTES = 16 * 2 ** 20;

interface Added {
  kind: 'added';
  block: ChainBlock;
  turn: number;
  fetched?: Promise<BlockLog[] | null>;
}

interface Removed {
  kind: 'removed';
  blocks: readonly ChainBlock[];
}

/** The logs of a block that were pushed to anyone; `logs` is null when they were too large to keep. */
interface Delivered {
  turn: number;
  logs: BlockLog[] | null;
  bytes: number;
}

export class Logs implements ChainListener {
  private readonly chain: Pick<Chain, 'use'>;
  private readonly client: Pick<RpcClient, 'call'>;
  private readonly log: Logger;
  private readonly stop = new AbortController();
  private readonly subscribers = new LogSubscribers();
  private events: (Added | Removed)[] = [];
  private running = false;
  /** Counts the announced blocks. */
  private turn = 0;
  private fetches = 0;
  private readonly delivered = new Map<string, Delivered>();
  private deliveredBytes = 0;

  constructor(chain: Pick<Chain, 'use' | 'listen'>, client: Pick<RpcClient, 'call'>, log: Logger) {
    this.chain = chain;
    this.client = client;
    this.log = log;
    chain.listen(this);
  }

  async open(filter: LogFilter, subscription: Subscription): Promise<End> {
    const leave = await orUnavailable(this.chain.use());
    const subscriber = { filter, subscription, since: this.turn };
    this.subscribers.add(subscriber);
    return () => {
      this.subscribers.delete(subscriber);
      if (this.subscribers.all.size === 0) this.dropWaiting();
      leave();
    };
  }

  close(): void {
    this.stop.abort();
  }

  added(block: ChainBlock): void {
    this.turn++;
    if (this.subscribers.all.size === 0) return;
    this.enqueue({ kind: 'added', block, turn: this.turn });
  }

  removed(blocks: readonly ChainBlock[]): void {
    if (this.subscribers.all.size > 0) this.enqueue({ kind: 'removed', blocks });
  }

  lost(): void {
    this.closeAll(DEEP_REORG);
    this.delivered.clear();
    this.deliveredBytes = 0;
  }

  private enqueue(event: Added | Removed): void {
    this.events.push(event);
    if (this.events.length > MAX_WAITING) return this.giveUp();
    this.fetchAhead();
    void this.run();
  }

  /** The node delivers logs more slowly than blocks arrive, or is unreachable for too long. */
  private giveUp(): void {
    this.dropWaiting();
    this.closeAll(LOGS_BEHIND);
  }

  /** Drops all waiting events but the one being delivered. */
  private dropWaiting(): void {
    this.events.splice(1);
  }

  private fetchAhead(): void {
    for (const event of this.events) {
      if (this.fetches >= MAX_FETCHES) return;
      if (event.kind === 'added') this.fetch(event);
    }
  }

  private fetch(event: Added): Promise<BlockLog[] | null> {
    if (event.fetched === undefined) {
      this.fetches++;
      event.fetched = blockLogs(this.client, event.block, this.stop.signal).finally(() => this.fetches--);
      event.fetched.catch(() => undefined); // `deliver` awaits it when the block's turn comes
    }
    return event.fetched;
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let event = this.events[0]; event !== undefined; event = this.events[0]) {
      if (event.kind === 'removed') this.withdraw(event.blocks);
      else await this.deliver(event);
      this.events.shift();
      this.fetchAhead();
    }
    this.running = false;
  }

  private async deliver(event: Added): Promise<void> {
    const { block, turn } = event;
    try {
      const logs = await this.fetch(event);
      if (logs !== null && !block.orphaned) await this.push(block, turn, logs);
    } catch (error) {
      this.closeAll(logsRefused(error, block, this.log));
    }
  }

  private async push(block: ChainBlock, turn: number, logs: readonly BlockLog[]): Promise<void> {
    const told: BlockLog[] = [];
    let deadline = performance.now() + TURN_MS;
    for (const log of logs) {
      if (!this.tell(log, log.json, block.number, turn)) continue;
      told.push(log);
      if (performance.now() < deadline) continue;
      await nextTurn();
      deadline = performance.now() + TURN_MS;
    }
    this.keep(block.hash, turn, told);
  }

  private withdraw(blocks: readonly ChainBlock[]): void {
    for (const { hash, number } of blocks) {
      const delivered = this.delivered.get(hash);
      if (delivered === undefined) continue;
      if (delivered.logs === null) return this.lost();
      for (const log of delivered.logs) this.tell(log, removedJson(log), number, delivered.turn);
      this.deliveredBytes -= delivered.bytes;
      this.delivered.delete(hash);
    }
  }

  /** Pushes a log to the subscribers that want it and had subscribed before `turn`. Returns whether there were any. */
  private tell(log: BlockLog, json: string, blockNumber: number, turn: number): boolean {
    let notice: Notice | undefined;
    this.subscribers.forEachMatch(log, blockNumber, ({ since, subscription }: LogSubscriber) => {
      if (since >= turn) return;
      notice ??= new Notice('eth_subscription', json);
      subscription.push(notice);
    });
    return notice !== undefined;
  }

  /** Keeps the logs pushed for a block. All at once, because everything kept may be dropped between two pushes. */
  private keep(hash: string, turn: number, logs: BlockLog[]): void {
    if (logs.length === 0) return;
    const bytes = logs.reduce((sum, { json }) => sum + json.length, 0);
    this.delivered.set(hash, { turn, logs, bytes });
    this.deliveredBytes += bytes;
    this.forget();
  }

  /** Drops blocks too old to be removed by a reorg, and the logs of the oldest ones when there are too many bytes. */
  private forget(): void {
    for (const [hash, { bytes }] of this.delivered) {
      if (this.delivered.size <= REORG_BLOCKS) break;
      this.deliveredBytes -= bytes;
      this.delivered.delete(hash);
    }
    for (const delivered of this.delivered.values()) {
      if (this.deliveredBytes <= MAX_DELIVERED_BYTES) break;
      this.deliveredBytes -= delivered.bytes;
      delivered.logs = null;
      delivered.bytes = 0;
    }
  }

  private closeAll(closing: Closing): void {
    for (const { subscription } of this.subscribers.all) subscription.outlet.close(...closing);
  }
}

function removedJson({ json }: BlockLog): string {
  return JSON.stringify({ ...JSON.parse(json), removed: true });
}
