/**
 * The newest blocks of the node's chain, each linked to its parent. Whatever the node announces, skips or withdraws,
 * listeners see one chain that grows and, on a reorg, shrinks: no block is left out and none comes twice.
 */
import { UpstreamError } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';
import { findForkPoint } from '../lib/fork-point.ts';
import { once } from '../lib/once.ts';
import type { Logger } from '../log.ts';
import type { ChainBlock } from './chain-block.ts';
import { ChainReader } from './chain-reader.ts';
import { MAX_REORG_DEPTH } from './max-reorg-depth.ts';
import type { NodeConnection } from './node-connection.ts';
import { OddAnnouncements } from './odd-announcements.ts';

export interface ChainListener {
  onBlockAdded(block: ChainBlock): void;
  /** These blocks are no longer on the chain; oldest first. */
  onBlocksRemoved(blocks: readonly ChainBlock[]): void;
  /** A reorg deeper than the known blocks: blocks reported earlier are gone and cannot be reported as removed. */
  onDeepReorg(): void;
}

export interface ChainFollowerOptions {
  node: NodeConnection;
  /** Milliseconds between polls of the node's head while it is not announced. */
  pollMs: number;
  log: Logger;
}

/** Blocks before the head that are loaded at the start, so that the fork of a reorg right afterwards is known. */
const FIRST_BLOCKS = 32;
/** Most announced heads that may wait; dropped ones are fetched. */
const MAX_QUEUED_HEADS = 64;
/** Milliseconds between polls while heads are announced: announcements can get lost on a connection that stays open. */
const ANNOUNCED_POLL_MS = 2_000;
/** How long the chain is still followed without users, milliseconds: clients come back. */
const LINGER_MS = 30_000;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 5_000;

export class ChainFollower {
  private readonly options: ChainFollowerOptions;
  private readonly reader: ChainReader;
  private readonly oddHeads: OddAnnouncements;
  private readonly listeners: ChainListener[] = [];
  private refCount = 0;
  /** Set while the chain is followed. */
  private following: { stop: AbortController; ready: Promise<void> } | null = null;
  private lingerTimer: NodeJS.Timeout | undefined;
  /** Each the parent of the next, oldest first. */
  private blocks: ChainBlock[] = [];
  private headQueue: ChainBlock[] = [];
  /** Heads that were announced or polled. */
  private headCount = 0;
  private isProcessing = false;
  private failures = 0;
  private pollTimer: NodeJS.Timeout | undefined;
  /** Hash of the last head announced or polled since announcements began: older heads are not announced. */
  private lastHeadHash: string | null = null;
  /** The node has a WebSocket but does not announce heads on it. */
  private isRefused = false;
  /** A poll found a new head, and nothing was announced since. */
  private hasUnannouncedHead = false;
  /** Lowest block to which the index was rolled back since the node's head was last at or above the oldest known block. */
  private rolledBackTo = Number.POSITIVE_INFINITY;

  constructor(options: ChainFollowerOptions) {
    this.options = options;
    this.reader = new ChainReader(options.node.client);
    this.oddHeads = new OddAnnouncements(options.log, 'head');
  }

  addListener(listener: ChainListener): void {
    this.listeners.push(listener);
  }

  /** The newest block that listeners got, or that was the head when following began. */
  get tip(): ChainBlock | undefined {
    return this.blocks.at(-1);
  }

  /** The known blocks from a height on, oldest first. */
  blocksFrom(number: number): ChainBlock[] {
    return this.blocks.slice(Math.max(0, number - (this.blocks[0]?.number ?? 0)));
  }

  /**
   * Follows the chain at least until the returned function is called. Once this has resolved, listeners get every later
   * block. Rejects with UpstreamError when the node's head cannot be read.
   */
  async acquire(): Promise<() => void> {
    this.refCount++;
    clearTimeout(this.lingerTimer);
    try {
      this.following ??= this.follow();
      await this.following.ready;
    } catch (error) {
      this.release();
      throw error;
    }
    return once(() => this.release());
  }

  /** Call it when the index was rolled back to a block: all above it are no longer on the node's chain. */
  noteRollback(to: number): void {
    this.rolledBackTo = Math.min(this.rolledBackTo, to);
  }

  close(): void {
    clearTimeout(this.lingerTimer);
    this.following?.stop.abort();
    this.following = null;
  }

  private release(): void {
    this.refCount--;
    if (this.refCount === 0) this.lingerTimer = setTimeout(() => this.close(), LINGER_MS).unref();
  }

  private follow(): { stop: AbortController; ready: Promise<void> } {
    const stop = new AbortController();
    const { signal } = stop;
    const { node, log } = this.options;
    const endListening = node.onConnectionChange(() => {
      this.lastHeadHash = null;
      this.hasUnannouncedHead = false;
      this.schedulePoll(signal, 0);
    });
    const endHeads = node.feed?.subscribe(
      ['newHeads'],
      (head) => this.onHead(head, signal),
      (error) => {
        this.isRefused = true;
        log.warn({ err: error }, 'the node announces no heads, polling instead');
      },
      () => {
        this.isRefused = false;
      },
    );
    signal.addEventListener('abort', () => {
      endListening();
      endHeads?.();
      clearTimeout(this.pollTimer);
      this.blocks = [];
      this.headQueue = [];
    });
    const ready = this.begin(signal).catch((error: unknown) => {
      stop.abort();
      this.following = null;
      throw error;
    });
    return { stop, ready };
  }

  private async begin(signal: AbortSignal): Promise<void> {
    await this.loadTip(signal);
    this.schedulePoll(signal);
    void this.processHeads(signal);
  }

  private async loadTip(signal: AbortSignal): Promise<void> {
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    const head = await this.reader.fetchBlock('latest', signal);
    this.blocks = [...(await this.reader.fetchAncestors(head, FIRST_BLOCKS, signal)), head];
  }

  private onHead(value: unknown, signal: AbortSignal): void {
    try {
      const head = this.reader.readAnnounced(value);
      this.lastHeadHash = head.hash;
      this.hasUnannouncedHead = false;
      this.enqueueHead(head, signal);
    } catch (error) {
      this.oddHeads.report(error);
    }
  }

  private enqueueHead(head: ChainBlock, signal: AbortSignal): void {
    this.headCount++;
    this.headQueue.push(head);
    if (this.headQueue.length > MAX_QUEUED_HEADS) this.headQueue.shift();
    void this.processHeads(signal);
  }

  /** Extends the chain to each announced head, one after the other. */
  private async processHeads(signal: AbortSignal): Promise<void> {
    if (this.isProcessing || this.blocks.length === 0) return;
    this.isProcessing = true;
    try {
      for (let head = this.headQueue.shift(); head !== undefined; head = this.headQueue.shift()) {
        await this.extendTo(head, signal);
        this.failures = 0;
      }
    } catch (error) {
      if (!signal.aborted) this.retry(error, signal);
    } finally {
      this.isProcessing = false;
    }
  }

  /** Logs a failure once when it persists, and not again before the chain advances. */
  private recordFailure(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    this.failures++;
    // A single failure is normal: the chain may change while it is read.
    if (this.failures === 2) this.options.log.warn({ err: error }, 'cannot follow the heads of the node');
  }

  private retry(error: unknown, signal: AbortSignal): void {
    this.recordFailure(error);
    this.headQueue = [];
    this.schedulePoll(signal, backoffMs(this.failures, RETRY_MIN_MS, RETRY_MAX_MS));
  }

  private async extendTo(head: ChainBlock, signal: AbortSignal): Promise<void> {
    const oldest = this.blocks[0];
    if (oldest === undefined) return;
    if (head.number < oldest.number) {
      // Its height alone proves nothing: the node may be behind for a while. The index knows what was there before.
      if (this.rolledBackTo < oldest.number) await this.handleDeepReorg(signal);
      return;
    }
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    if (this.blockAt(head.number)?.hash === head.hash) return;
    const linksDirectly = this.blockAt(head.number - 1)?.hash === head.parentHash;
    const fork = linksDirectly ? head.number - 1 : await this.findForkPoint(head, oldest.number, signal);
    if (fork < oldest.number) return this.handleDeepReorg(signal);
    for await (const block of this.reader.fetchRange(fork + 1, head.number - 1, signal)) this.append(block);
    this.append(head);
  }

  /** The newest known block that is on the head's chain, or the one before the known blocks when none is. */
  private findForkPoint(head: ChainBlock, oldest: number, signal: AbortSignal): Promise<number> {
    const parent = head.number - 1;
    return findForkPoint(
      Math.min(parent, this.tip?.number ?? parent),
      oldest,
      (number) => this.blockAt(number)?.hash,
      async (number) =>
        number === parent ? head.parentHash : (await this.reader.fetchBlock(number, signal)).hash,
    );
  }

  /** Appends a block to its parent. Only now, with a replacement at hand, are the blocks of the old branch removed. */
  private append(block: ChainBlock): void {
    // The node may have switched branches and back during the search for the fork: then the fork is higher than found.
    if (this.blockAt(block.number)?.hash === block.hash) return;
    if (block.parentHash !== this.blockAt(block.number - 1)?.hash) {
      throw new UpstreamError(
        'inconsistent',
        `block ${block.number} of the node does not follow its last one`,
      );
    }
    this.removeAbove(block.number - 1);
    this.blocks.push(block);
    if (this.blocks.length > MAX_REORG_DEPTH) this.blocks.shift();
    for (const listener of this.listeners) listener.onBlockAdded(block);
  }

  /** Removes every block above `to`. */
  private removeAbove(to: number): void {
    const first = this.blocks.findIndex((block) => block.number > to);
    if (first < 0) return;
    const removed = this.blocks.splice(first);
    for (const block of removed) block.orphaned = true;
    for (const listener of this.listeners) listener.onBlocksRemoved(removed);
  }

  private async handleDeepReorg(signal: AbortSignal): Promise<void> {
    this.options.log.warn(
      { tip: this.tip?.number },
      'the chain was reorganised deeper than streams can take back',
    );
    const gone = this.blocks;
    // Clients that reconnect get every block after the new tip.
    await this.loadTip(signal);
    for (const block of gone) block.orphaned = true;
    for (const listener of this.listeners) listener.onDeepReorg();
  }

  private blockAt(number: number): ChainBlock | undefined {
    return this.blocks[number - (this.blocks[0]?.number ?? 0)];
  }

  /** Whether new heads should be announced. */
  private get expectsHeads(): boolean {
    return this.options.node.feed?.connected === true && !this.isRefused;
  }

  private schedulePoll(signal: AbortSignal, afterMs?: number): void {
    if (signal.aborted) return;
    clearTimeout(this.pollTimer);
    const { pollMs } = this.options;
    const wait = afterMs ?? (this.expectsHeads ? Math.max(ANNOUNCED_POLL_MS, pollMs) : pollMs);
    this.pollTimer = setTimeout(() => void this.poll(signal), wait).unref();
  }

  /** Polls the head. If a head found by a poll is still not announced at the next poll, reconnects the announcements. */
  private async poll(signal: AbortSignal): Promise<void> {
    try {
      if (this.hasUnannouncedHead && this.expectsHeads)
        this.options.node.feed?.reconnect('a head was not announced');
      const { headCount } = this;
      const head = await this.reader.fetchBlock('latest', signal);
      // Of two heads only the node knows which is the later one: what came meanwhile may have replaced this one.
      if (headCount !== this.headCount) return this.schedulePoll(signal);
      const isNew = this.lastHeadHash !== null && this.lastHeadHash !== head.hash;
      // A node that is set back to a block announces nothing.
      const isSetBack =
        head.number < (this.blocks[0]?.number ?? 0) || this.blockAt(head.number)?.hash === head.hash;
      this.hasUnannouncedHead = isNew && !isSetBack;
      this.lastHeadHash = head.hash;
      this.enqueueHead(head, signal);
    } catch (error) {
      if (!signal.aborted) this.recordFailure(error);
    }
    this.schedulePoll(signal);
  }
}
