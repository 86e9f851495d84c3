/**
 * `chainLogs` on Monad: logs of proposed blocks, from the node's `monadLogs`. The node repeats each log with every
 * change of its block's state; here each is sent once, when first seen, unless the client wants every change. While the
 * announcements are interrupted, and up to where they resume, logs are fetched per block.
 */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { jsonOf } from '../upstream/reply.ts';
import { type BlockLog, blockLogs, logsRefused, MAX_WAITING, nodeLog } from './block-logs.ts';
import type { Chain, ChainListener } from './chain.ts';
import type { ChainBlock } from './chain-block.ts';
import { type Closing, DEEP_REORG, endedByNode, LOGS_BEHIND } from './closing.ts';
import type { LogFilter } from './log-filter.ts';
import { LogSubscribers } from './log-subscribers.ts';
import type { NodeSource } from './node-source.ts';
import { Notice } from './notice.ts';
import { orUnavailable } from './refusals.ts';
import { REORG_BLOCKS } from './reorg-memory.ts';
import type { End } from './session.ts';
import { SharedFeed } from './shared-feed.ts';
import type { Subscription } from './subscription.ts';

/** Most announced logs that may wait while a gap is filled. */
const MAX_HELD = 100_000;

interface ChainLog extends BlockLog {
  number: number;
}

export class ChainLogs implements ChainListener {
  private readonly source: NodeSource;
  private readonly chain: Pick<Chain, 'use' | 'tip' | 'from'>;
  private readonly log: Logger;
  private readonly shared: SharedFeed | null;
  private readonly stop = new AbortController();
  private readonly first = new LogSubscribers();
  private readonly states = new LogSubscribers();
  /** Indexes of the logs sent, by block hash, for the newest REORG_BLOCKS blocks. */
  private readonly seen = new Map<string, Set<string>>();
  /** Highest block with a log sent, and a block up to which all announced logs are certain to have been sent. */
  private highest = -1;
  private covered = -1;
  /** Blocks to fetch before announcements are passed on again; null while these come without a gap. */
  private gap: { blocks: ChainBlock[]; held: ChainLog[]; filledTo: number } | null = null;
  private filling = false;

  constructor(chain: Pick<Chain, 'use' | 'listen' | 'tip' | 'from'>, source: NodeSource, log: Logger) {
    this.chain = chain;
    this.source = source;
    this.log = log;
    this.shared =
      source.feed &&
      new SharedFeed({
        feed: source.feed,
        params: ['monadLogs'],
        onEvent: (result) => this.hear(result),
        onLost: () => this.closeAll(endedByNode('monadLogs')),
      });
    chain.listen(this);
    source.onConnection((connected) => {
      if (!connected) this.breakOff();
    });
  }

  /** Resolves with null when the node has no such announcements. */
  async open(filter: LogFilter, everyState: boolean, subscription: Subscription): Promise<End | null> {
    const leaveFeed = await this.join();
    if (leaveFeed === null) return null;
    const leaveChain = await orUnavailable(this.chain.use()).catch((error: unknown) => {
      leaveFeed();
      throw error;
    });
    const subscribers = everyState ? this.states : this.first;
    const subscriber = { filter, subscription, since: this.chain.tip?.number ?? -1 };
    subscribers.add(subscriber);
    if (this.source.feed?.connected !== true) this.breakOff();
    return () => {
      subscribers.delete(subscriber);
      if (this.isIdle) this.gap = null;
      leaveChain();
      leaveFeed();
    };
  }

  close(): void {
    this.stop.abort();
  }

  added(block: ChainBlock): void {
    if (this.isIdle) return;
    if (this.gap === null) {
      this.covered = block.number - 2; // heads and logs share a socket but are not in step
      return;
    }
    this.gap.blocks.push(block);
    if (this.gap.blocks.length > MAX_WAITING) this.closeAll(LOGS_BEHIND);
    void this.fill();
  }

  removed(): void {
    // Monad never reports logs as removed: proposed ones are not final until the node says so.
  }

  lost(): void {
    this.closeAll(DEEP_REORG);
  }

  private get isIdle(): boolean {
    return this.first.all.size + this.states.all.size === 0;
  }

  private async join(): Promise<(() => void) | null> {
    if (this.shared === null) return null;
    const joined = this.shared.join().catch((error: unknown) => {
      if (error instanceof UpstreamError && error.reason === 'rpc') return null;
      throw error;
    });
    return orUnavailable(joined);
  }

  private hear(value: unknown): void {
    const log = this.read(value);
    if (log === null) return;
    if (this.gap === null) return this.tell(log);
    this.gap.held.push(log);
    if (this.gap.held.length > MAX_HELD) this.closeAll(LOGS_BEHIND);
    this.resume();
  }

  private read(value: unknown): ChainLog | null {
    try {
      const log = nodeLog(value, 'monadLogs');
      return { ...log, number: Number(log.blockNumber), json: jsonOf(value, 'monadLogs') };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.log.warn({ err: error }, 'the node announced something that is no log');
      return null;
    }
  }

  /** Announcements stopped: the newest block may be incomplete, and every later one is missing. */
  private breakOff(): void {
    if (this.gap !== null || this.isIdle) return;
    const from = Math.max(this.highest, this.covered);
    this.gap = { blocks: this.chain.from(from), held: [], filledTo: from - 1 };
    void this.fill();
  }

  private async fill(): Promise<void> {
    if (this.filling) return;
    this.filling = true;
    for (let { gap } = this; gap !== null; gap = this.gap) {
      const block = gap.blocks.shift();
      if (block === undefined) break;
      await this.fetch(block);
      gap.filledTo = Math.max(gap.filledTo, block.number);
      this.resume();
    }
    this.filling = false;
  }

  private async fetch(block: ChainBlock): Promise<void> {
    try {
      const logs = await blockLogs(this.source.client, block, this.stop.signal);
      for (const log of logs ?? []) this.tell({ ...log, number: block.number });
    } catch (error) {
      this.closeAll(logsRefused(error, block, this.log));
    }
  }

  /** Passes on the held logs once they follow the fetched ones without a gap. */
  private resume(): void {
    const { gap } = this;
    const next = gap?.held[0];
    if (gap === null || next === undefined || next.number > gap.filledTo + 1) return;
    this.gap = null;
    for (const log of gap.held) this.tell(log);
  }

  private tell(log: ChainLog): void {
    this.highest = Math.max(this.highest, log.number);
    const isNew = this.remember(log);
    let notice: Notice | undefined;
    const push = (subscription: Subscription): void => {
      notice ??= new Notice('eth_subscription', log.json);
      subscription.push(notice);
    };
    this.states.forEachMatch(log, log.number, ({ subscription }) => push(subscription));
    if (!isNew) return;
    this.first.forEachMatch(log, log.number, ({ since, subscription }) => {
      if (log.number > since) push(subscription);
    });
  }

  /** Returns whether the log is new. */
  private remember({ blockHash, logIndex }: ChainLog): boolean {
    let places = this.seen.get(blockHash);
    if (places === undefined) {
      places = new Set();
      this.seen.set(blockHash, places);
      const [oldest] = this.seen.keys();
      if (this.seen.size > REORG_BLOCKS && oldest !== undefined) this.seen.delete(oldest);
    }
    const isNew = !places.has(logIndex);
    places.add(logIndex);
    return isNew;
  }

  private closeAll(closing: Closing): void {
    for (const { subscription } of [...this.first.all, ...this.states.all])
      subscription.outlet.close(...closing);
  }
}
