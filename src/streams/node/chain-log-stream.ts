/**
 * `chainLogs` on Monad: logs of proposed blocks, from the node's `monadLogs`. The node repeats each log with every
 * change of its block's state; clients get each log once, when first seen, unless they ask for every change. The logs
 * of blocks proposed during an interruption of the notifications are fetched.
 *
 * Clients of `monadLogs` itself share the subscription, but get every log just as the node sends it.
 */
import { type ChainBlock, MAX_REORG_DEPTH } from '../../chain/block.ts';
import type { ChainListener, ChainTracker } from '../../chain/tracker.ts';
import { UpstreamError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import { MalformedNotifications, type NodeConnection } from '../../node/connection.ts';
import { isBusy } from '../../node/node-errors.ts';
import { jsonOf } from '../../node/reply.ts';
import { type CloseFrame, DEEP_REORG, LOGS_BEHIND, subscriptionEndedByNode } from '../close.ts';
import { awaitUpstream, notOffered, rethrowNodeRefusal } from '../subscribe-errors.ts';
import { Notification, type Subscription, type Unsubscribe } from '../subscription.ts';
import {
  fetchBlockLogs,
  MAX_QUEUED_BLOCKS,
  readNodeLog,
  reportLogsUnavailable,
  type SerializedLog,
} from './fetch-block-logs.ts';
import { type LogFilter, type LogSubscriber, LogSubscribers } from './log-filter.ts';
import { SharedNodeSubscription } from './shared-node-subscription.ts';

/** Most notified logs that wait while a gap is filled. */
const MAX_HELD_LOGS = 100_000;

/**
 * How many blocks before a subscription are remembered by hash, to recognise their replacements. Logs of deeper
 * replacements are not sent.
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
  private readonly chain: Pick<ChainTracker, 'acquire' | 'tip' | 'blocksFrom'>;
  private readonly log: Logger;
  private readonly malformed: MalformedNotifications;
  private readonly shared: SharedNodeSubscription | null;
  private readonly stop = new AbortController();
  private readonly onceSubscribers = new LogSubscribers<ChainLogSubscriber>();
  private readonly everyStateSubscribers = new LogSubscribers<ChainLogSubscriber>();
  private readonly verbatimSubscribers = new LogSubscribers();
  /** Indexes of the logs sent, by block hash, for the newest MAX_REORG_DEPTH blocks. */
  private readonly seen = new Map<string, Set<string>>();
  /**
   * Highest block with a log sent, and the block up to which no log is missing: all were sent, or nobody was subscribed
   * yet.
   */
  private highestSentBlock = -1;
  private completeThrough = -1;
  /** Blocks to fetch before notifications resume; null while there is no gap. */
  private gap: { blocks: ChainBlock[]; held: ChainLog[]; filledTo: number } | null = null;
  private isFilling = false;

  constructor(
    chain: Pick<ChainTracker, 'acquire' | 'addListener' | 'tip' | 'blocksFrom'>,
    node: NodeConnection,
    log: Logger,
  ) {
    this.chain = chain;
    this.node = node;
    this.log = log;
    this.malformed = new MalformedNotifications(log, 'log');
    this.shared =
      node.subscriptions &&
      new SharedNodeSubscription({
        subscriptions: node.subscriptions,
        params: ['monadLogs'],
        onEvent: (result) => this.onLog(result),
        onLost: () => this.onLost(),
      });
    chain.addListener(this);
    node.onConnectionChange((connected) => {
      if (!connected) this.openGap();
    });
  }

  /** Resolves with null when the node does not offer `monadLogs`. */
  async subscribe(
    filter: LogFilter,
    everyState: boolean,
    subscription: Subscription,
  ): Promise<Unsubscribe | null> {
    const releaseSubscription = await this.acquireSubscription();
    if (releaseSubscription === null) return null;
    const releaseChain = await awaitUpstream(this.chain.acquire()).catch((error: unknown) => {
      releaseSubscription();
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
    if (this.node.subscriptions?.connected !== true) this.openGap();
    return () => {
      subscribers.delete(subscriber);
      if (this.isIdle) this.gap = null;
      releaseChain();
      releaseSubscription();
    };
  }

  /** `monadLogs`. Rejects with RequestError, for a node that refuses it with the node's own error. */
  async subscribeVerbatim(filter: LogFilter, subscription: Subscription): Promise<Unsubscribe> {
    if (this.shared === null) throw notOffered('monadLogs');
    const release = await awaitUpstream(this.shared.acquire().catch(rethrowNodeRefusal));
    const subscriber = { filter, subscription, since: -1 };
    this.verbatimSubscribers.add(subscriber);
    return () => {
      this.verbatimSubscribers.delete(subscriber);
      release();
    };
  }

  close(): void {
    this.stop.abort();
  }

  onBlockAdded(block: ChainBlock): void {
    if (this.isIdle) return;
    if (this.gap === null) {
      this.completeThrough = block.number - 2; // heads and logs share a socket but are not synchronised
      return;
    }
    this.gap.blocks.push(block);
    if (this.gap.blocks.length > MAX_QUEUED_BLOCKS) this.closeAll(LOGS_BEHIND);
    void this.fillGap();
  }

  /**
   * Monad never reports logs as removed, because proposed ones are not final until the node says so. But replacement
   * blocks may have been proposed during an interruption of the notifications, so their logs are fetched.
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

  private async acquireSubscription(): Promise<(() => void) | null> {
    if (this.shared === null) return null;
    const acquired = this.shared.acquire().catch((error: unknown) => {
      if (error instanceof UpstreamError && error.reason === 'rpc' && !isBusy(error)) return null;
      throw error;
    });
    return awaitUpstream(acquired);
  }

  private onLog(value: unknown): void {
    const log = this.readLog(value);
    if (log === null) return;
    this.publishVerbatim(log);
    if (this.isIdle) return;
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
      this.malformed.report(error);
      return null;
    }
  }

  /** Notifications stopped: the newest block may be incomplete, and later ones are missing. */
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

  /** Passes the held logs on once they follow the fetched ones without a gap. */
  private closeGapIfFilled(): void {
    const { gap } = this;
    const next = gap?.held[0];
    if (gap === null || next === undefined || next.height > gap.filledTo + 1) return;
    this.gap = null;
    for (const log of gap.held) this.publish(log, 'held');
  }

  /**
   * Pushes a log to the subscribers that want it. A held log may carry a state from before a subscription, so only
   * subscriptions from before its block get it as a state change; a fetched log carries no state.
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

  private publishVerbatim(log: ChainLog): void {
    let notification: Notification | undefined;
    this.verbatimSubscribers.forEachMatch(log, log.height, ({ subscription }) => {
      notification ??= new Notification('eth_subscription', log.json);
      subscription.push(notification);
    });
  }

  private onLost(): void {
    const frame = subscriptionEndedByNode('monadLogs');
    this.closeAll(frame);
    for (const { subscription } of this.verbatimSubscribers.all) subscription.connection.close(...frame);
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

  /** Closes the connections of all subscribers, or of those that `concerns` selects. */
  private closeAll(
    frame: CloseFrame,
    concerns: (subscriber: ChainLogSubscriber) => boolean = () => true,
  ): void {
    for (const subscriber of [...this.onceSubscribers.all, ...this.everyStateSubscribers.all])
      if (concerns(subscriber)) subscriber.subscription.connection.close(...frame);
  }
}

/** Whether the block came after the subscription, possibly as the replacement of an earlier block. */
function isLater({ since, before }: ChainLogSubscriber, height: number, hash: string): boolean {
  if (height > since) return true;
  const replaced = before.at(height - since - 1);
  return replaced !== undefined && replaced !== hash;
}
