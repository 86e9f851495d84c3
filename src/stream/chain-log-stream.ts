/**
 * `chainLogs` on Monad: logs of proposed blocks, from the node's `monadLogs`. The node repeats each log with every
 * change of its block's state; here each is sent once, when first seen, unless the client wants every change. While the
 * announcements are interrupted, and up to where they resume, logs are fetched per block.
 */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { jsonOf } from '../upstream/reply.ts';
import type { ChainBlock } from './chain-block.ts';
import type { ChainFollower, ChainListener } from './chain-follower.ts';
import { type CloseFrame, DEEP_REORG, LOGS_BEHIND, subscriptionEndedByNode } from './close-frames.ts';
import {
  fetchBlockLogs,
  MAX_QUEUED_BLOCKS,
  readNodeLog,
  reportLogsUnavailable,
  type SerializedLog,
} from './fetch-block-logs.ts';
import type { LogFilter } from './log-filter.ts';
import { type LogSubscriber, LogSubscribers } from './log-subscribers.ts';
import { MAX_REORG_DEPTH } from './max-reorg-depth.ts';
import type { NodeConnection } from './node-connection.ts';
import { Notification } from './notification.ts';
import { OddAnnouncements } from './odd-announcements.ts';
import type { Unsubscribe } from './session.ts';
import { SharedNodeSubscription } from './shared-node-subscription.ts';
import { awaitUpstream } from './subscribe-errors.ts';
import type { Subscription } from './subscription.ts';

/** Most announced logs that may wait while a gap is filled. */
const MAX_HELD_LOGS = 100_000;

/**
 * Blocks before a subscription whose hashes are kept, to recognise new blocks in their place. New blocks further below
 * are not announced.
 */
const BLOCKS_BEFORE = 32;

interface ChainLog extends SerializedLog {
  height: number;
}

interface ChainLogSubscriber extends LogSubscriber {
  /** Hashes of the blocks up to `since`. */
  readonly before: readonly string[];
}

export class ChainLogStream implements ChainListener {
  private readonly node: NodeConnection;
  private readonly chain: Pick<ChainFollower, 'acquire' | 'tip' | 'blocksFrom'>;
  private readonly log: Logger;
  private readonly oddLogs: OddAnnouncements;
  private readonly shared: SharedNodeSubscription | null;
  private readonly stop = new AbortController();
  private readonly onceSubscribers = new LogSubscribers<ChainLogSubscriber>();
  private readonly everyStateSubscribers = new LogSubscribers<ChainLogSubscriber>();
  /** Indexes of the logs sent, by block hash, for the newest MAX_REORG_DEPTH blocks. */
  private readonly seen = new Map<string, Set<string>>();
  /**
   * Highest block with a log sent, and a block up to which nothing is missing: all announced logs are certain to have
   * been sent, or there was no subscriber yet.
   */
  private highestSentBlock = -1;
  private completeThrough = -1;
  /** Blocks to fetch before announcements are passed on again; null while these come without a gap. */
  private gap: { blocks: ChainBlock[]; held: ChainLog[]; filledTo: number } | null = null;
  private isFilling = false;

  constructor(
    chain: Pick<ChainFollower, 'acquire' | 'addListener' | 'tip' | 'blocksFrom'>,
    node: NodeConnection,
    log: Logger,
  ) {
    this.chain = chain;
    this.node = node;
    this.log = log;
    this.oddLogs = new OddAnnouncements(log, 'log');
    this.shared =
      node.feed &&
      new SharedNodeSubscription({
        feed: node.feed,
        params: ['monadLogs'],
        onEvent: (result) => this.onLog(result),
        onLost: () => this.closeAll(subscriptionEndedByNode('monadLogs')),
      });
    chain.addListener(this);
    node.onConnectionChange((connected) => {
      if (!connected) this.openGap();
    });
  }

  /** Resolves with null when the node has no such announcements. */
  async subscribe(
    filter: LogFilter,
    everyState: boolean,
    subscription: Subscription,
  ): Promise<Unsubscribe | null> {
    const releaseFeed = await this.acquireFeed();
    if (releaseFeed === null) return null;
    const releaseChain = await awaitUpstream(this.chain.acquire()).catch((error: unknown) => {
      releaseFeed();
      throw error;
    });
    const subscribers = everyState ? this.everyStateSubscribers : this.onceSubscribers;
    const since = this.chain.tip?.number ?? -1;
    if (this.isIdle) {
      this.highestSentBlock = -1;
      this.completeThrough = since;
    }
    const before = this.chain.blocksFrom(since - BLOCKS_BEFORE + 1).map(({ hash }) => hash);
    const subscriber = { filter, subscription, since, before };
    subscribers.add(subscriber);
    if (this.node.feed?.connected !== true) this.openGap();
    return () => {
      subscribers.delete(subscriber);
      if (this.isIdle) this.gap = null;
      releaseChain();
      releaseFeed();
    };
  }

  close(): void {
    this.stop.abort();
  }

  onBlockAdded(block: ChainBlock): void {
    if (this.isIdle) return;
    if (this.gap === null) {
      this.completeThrough = block.number - 2; // heads and logs share a socket but are not in step
      return;
    }
    this.gap.blocks.push(block);
    if (this.gap.blocks.length > MAX_QUEUED_BLOCKS) this.closeAll(LOGS_BEHIND);
    void this.fillGap();
  }

  /**
   * Monad never reports logs as removed: proposed ones are not final until the node says so. But some of the blocks that
   * replace these may have been proposed while the announcements were interrupted, so their logs are fetched.
   */
  onBlocksRemoved(blocks: readonly ChainBlock[]): void {
    const fork = blocks[0]!.number - 1;
    this.highestSentBlock = Math.min(this.highestSentBlock, fork);
    this.completeThrough = Math.min(this.completeThrough, fork);
    if (this.gap === null) this.openGap();
    else this.gap.filledTo = Math.min(this.gap.filledTo, fork);
  }

  onDeepReorg(): void {
    this.closeAll(DEEP_REORG);
  }

  private get isIdle(): boolean {
    return this.onceSubscribers.all.size + this.everyStateSubscribers.all.size === 0;
  }

  private async acquireFeed(): Promise<(() => void) | null> {
    if (this.shared === null) return null;
    const acquired = this.shared.acquire().catch((error: unknown) => {
      if (error instanceof UpstreamError && error.reason === 'rpc') return null;
      throw error;
    });
    return awaitUpstream(acquired);
  }

  private onLog(value: unknown): void {
    const log = this.readLog(value);
    if (log === null) return;
    if (this.gap === null) return this.publish(log, 'live');
    this.gap.held.push(log);
    if (this.gap.held.length > MAX_HELD_LOGS) this.closeAll(LOGS_BEHIND);
    this.closeGapIfFilled();
  }

  private readLog(value: unknown): ChainLog | null {
    try {
      const log = readNodeLog(value, 'monadLogs');
      return { ...log, height: Number(log.blockNumber), json: jsonOf(value, 'monadLogs') };
    } catch (error) {
      this.oddLogs.report(error);
      return null;
    }
  }

  /** Announcements stopped: the newest block may be incomplete, and every later one is missing. */
  private openGap(): void {
    if (this.gap !== null || this.isIdle) return;
    const from = Math.max(this.highestSentBlock, this.completeThrough);
    this.gap = { blocks: this.chain.blocksFrom(from), held: [], filledTo: from - 1 };
    void this.fillGap();
  }

  private async fillGap(): Promise<void> {
    if (this.isFilling) return;
    this.isFilling = true;
    for (let { gap } = this; gap !== null; gap = this.gap) {
      const block = gap.blocks.shift();
      if (block === undefined) break;
      await this.publishFetched(block);
      if (!block.orphaned) gap.filledTo = Math.max(gap.filledTo, block.number);
      this.closeGapIfFilled();
    }
    this.isFilling = false;
  }

  private async publishFetched(block: ChainBlock): Promise<void> {
    try {
      const logs = await fetchBlockLogs(this.node.client, block, this.stop.signal);
      for (const log of logs ?? []) this.publish({ ...log, height: block.number }, 'fetched');
    } catch (error) {
      const frame = reportLogsUnavailable(error, block, this.log);
      this.closeAll(frame, (subscriber) => isLater(subscriber, block.number, block.hash));
    }
  }

  /** Passes on the held logs once they follow the fetched ones without a gap. */
  private closeGapIfFilled(): void {
    const { gap } = this;
    const next = gap?.held[0];
    if (gap === null || next === undefined || next.height > gap.filledTo + 1) return;
    this.gap = null;
    for (const log of gap.held) this.publish(log, 'held');
  }

  /**
   * Pushes a log to the subscribers that want it. A held log may tell of a state from before a subscription, so only
   * subscriptions from before its block get it as a change of state; a fetched log tells of no state.
   */
  private publish(log: ChainLog, source: 'live' | 'held' | 'fetched'): void {
    this.highestSentBlock = Math.max(this.highestSentBlock, log.height);
    const isNew = this.markSeen(log);
    let notification: Notification | undefined;
    const push = (subscription: Subscription): void => {
      notification ??= new Notification('eth_subscription', log.json);
      subscription.push(notification);
    };
    if (isNew || source !== 'fetched') {
      this.everyStateSubscribers.forEachMatch(log, log.height, (subscriber) => {
        if (source === 'live' || isLater(subscriber, log.height, log.blockHash))
          push(subscriber.subscription);
      });
    }
    if (!isNew) return;
    this.onceSubscribers.forEachMatch(log, log.height, (subscriber) => {
      if (isLater(subscriber, log.height, log.blockHash)) push(subscriber.subscription);
    });
  }

  /** Returns whether the log is new. */
  private markSeen({ blockHash, logIndex }: ChainLog): boolean {
    let logIndexes = this.seen.get(blockHash);
    if (logIndexes === undefined) {
      logIndexes = new Set();
      this.seen.set(blockHash, logIndexes);
      const [oldest] = this.seen.keys();
      if (this.seen.size > MAX_REORG_DEPTH && oldest !== undefined) this.seen.delete(oldest);
    }
    const isNew = !logIndexes.has(logIndex);
    logIndexes.add(logIndex);
    return isNew;
  }

  /** Closes the connections of all subscribers, or of those concerned. */
  private closeAll(
    frame: CloseFrame,
    concerns: (subscriber: ChainLogSubscriber) => boolean = () => true,
  ): void {
    for (const subscriber of [...this.onceSubscribers.all, ...this.everyStateSubscribers.all])
      if (concerns(subscriber)) subscriber.subscription.connection.close(...frame);
  }
}

/** Whether the block came after the subscription, be it in the place of one from before. */
function isLater({ since, before }: ChainLogSubscriber, height: number, hash: string): boolean {
  if (height > since) return true;
  const replaced = before.at(height - since - 1);
  return replaced !== undefined && replaced !== hash;
}
