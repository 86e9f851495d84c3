/**
 * The newest blocks of the node's chain, each linked to its parent. Whatever the node announces, skips or withdraws,
 * listeners see one chain that grows and, on a reorg, shrinks: no block is left out and none comes twice.
 */
import { UpstreamError } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Logger } from '../log.ts';
import type { ChainBlock } from './chain-block.ts';
import { ChainReader } from './chain-reader.ts';
import type { NodeSource } from './node-source.ts';
import { REORG_BLOCKS } from './reorg-memory.ts';

export interface ChainListener {
  added(block: ChainBlock): void;
  /** These blocks are no longer on the chain; oldest first. */
  removed(blocks: readonly ChainBlock[]): void;
  /** A reorg deeper than the known blocks: blocks reported earlier are gone and cannot be reported as removed. */
  lost(): void;
}

export interface ChainOptions {
  source: NodeSource;
  /** Milliseconds between polls of the node's head while it is not announced. */
  pollMs: number;
  log: Logger;
}

/** Blocks before the head that are loaded at the start, so that the fork of a reorg right afterwards is known. */
const FIRST_BLOCKS = 32;
/** Most announced heads that may wait; dropped ones are fetched. */
const MAX_ANNOUNCED = 64;
/** Milliseconds between polls while heads are announced: announcements can get lost on a connection that stays open. */
const CHECK_MS = 2_000;
/** How long the chain is still followed without users, milliseconds: clients come back. */
const LINGER_MS = 30_000;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 5_000;

export class Chain {
  private readonly options: ChainOptions;
  private readonly reader: ChainReader;
  private readonly listeners: ChainListener[] = [];
  private users = 0;
  /** Set while the chain is followed. */
  private following: { stop: AbortController; ready: Promise<void> } | null = null;
  private linger: NodeJS.Timeout | undefined;
  /** Each the parent of the next, oldest first. */
  private blocks: ChainBlock[] = [];
  private announced: ChainBlock[] = [];
  private running = false;
  private failures = 0;
  private nextLook: NodeJS.Timeout | undefined;
  /** Hash of the last head announced or polled since announcements began: older heads are not announced. */
  private known: string | null = null;
  /** A poll found a new head, and nothing was announced since. */
  private unannounced = false;

  constructor(options: ChainOptions) {
    this.options = options;
    this.reader = new ChainReader(options.source.client);
  }

  listen(listener: ChainListener): void {
    this.listeners.push(listener);
  }

  /** The newest block that listeners got, or that was the head when following began. */
  get tip(): ChainBlock | undefined {
    return this.blocks.at(-1);
  }

  /** The known blocks from a height on, oldest first. */
  from(number: number): ChainBlock[] {
    return this.blocks.slice(Math.max(0, number - (this.blocks[0]?.number ?? 0)));
  }

  /**
   * Follows the chain at least until the returned function is called. Once this has resolved, listeners get every later
   * block. Rejects with UpstreamError when the node's head cannot be read.
   */
  async use(): Promise<() => void> {
    this.users++;
    clearTimeout(this.linger);
    try {
      this.following ??= this.follow();
      await this.following.ready;
    } catch (error) {
      this.leave();
      throw error;
    }
    let using = true;
    return () => {
      if (using) this.leave();
      using = false;
    };
  }

  close(): void {
    clearTimeout(this.linger);
    this.following?.stop.abort();
    this.following = null;
  }

  private leave(): void {
    this.users--;
    if (this.users === 0) this.linger = setTimeout(() => this.close(), LINGER_MS).unref();
  }

  private follow(): { stop: AbortController; ready: Promise<void> } {
    const stop = new AbortController();
    const { signal } = stop;
    const { source, log } = this.options;
    const endListening = source.onConnection(() => {
      this.known = null;
      this.unannounced = false;
      this.scheduleLook(signal, 0);
    });
    const endHeads = source.feed?.subscribe(
      ['newHeads'],
      (head) => this.hear(head, signal),
      (error) => log.warn({ err: error }, 'the node announces no heads, polling instead'),
    );
    signal.addEventListener('abort', () => {
      endListening();
      endHeads?.();
      clearTimeout(this.nextLook);
      this.blocks = [];
      this.announced = [];
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
    this.scheduleLook(signal);
    void this.run(signal);
  }

  private async loadTip(signal: AbortSignal): Promise<void> {
    const head = await this.reader.block('latest', signal);
    this.blocks = [...(await this.reader.before(head, FIRST_BLOCKS, signal)), head];
  }

  private hear(value: unknown, signal: AbortSignal): void {
    try {
      const head = this.reader.announced(value);
      this.known = head.hash;
      this.unannounced = false;
      this.announce(head, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.options.log.warn({ err: error }, 'the node announced something that is no head');
    }
  }

  private announce(head: ChainBlock, signal: AbortSignal): void {
    this.announced.push(head);
    if (this.announced.length > MAX_ANNOUNCED) this.announced.shift();
    void this.run(signal);
  }

  /** Extends the chain to each announced head, one after the other. */
  private async run(signal: AbortSignal): Promise<void> {
    if (this.running || this.blocks.length === 0) return;
    this.running = true;
    try {
      for (let head = this.announced.shift(); head !== undefined; head = this.announced.shift()) {
        await this.reach(head, signal);
        this.failures = 0;
      }
    } catch (error) {
      if (!signal.aborted) this.retry(error, signal);
    } finally {
      this.running = false;
    }
  }

  /** Logs a failure once when it persists, and not again before the chain advances. */
  private noteFailure(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    this.failures++;
    // A single failure is normal: the chain may change while it is read.
    if (this.failures === 2) this.options.log.warn({ err: error }, 'cannot follow the heads of the node');
  }

  private retry(error: unknown, signal: AbortSignal): void {
    this.noteFailure(error);
    this.announced = [];
    this.scheduleLook(signal, backoffMs(this.failures, RETRY_MIN_MS, RETRY_MAX_MS));
  }

  private async reach(head: ChainBlock, signal: AbortSignal): Promise<void> {
    const oldest = this.blocks[0];
    // A head below the known blocks is ignored: the node may be behind for a while.
    if (oldest === undefined || head.number < oldest.number || this.at(head.number)?.hash === head.hash)
      return;
    const linksDirectly = this.at(head.number - 1)?.hash === head.parentHash;
    const fork = linksDirectly ? head.number - 1 : await this.forkBelow(head, signal);
    if (fork === null) return this.lose(signal);
    for await (const block of this.reader.range(fork + 1, head.number - 1, signal)) this.append(block);
    this.append(head);
  }

  /** The newest known block that is on the head's chain; null when none is. */
  private async forkBelow(head: ChainBlock, signal: AbortSignal): Promise<number | null> {
    const oldest = this.blocks[0]?.number ?? 0;
    for (let number = Math.min(head.number - 1, this.tip?.number ?? 0); number >= oldest; number--) {
      const isParent = number === head.number - 1;
      const hash = isParent ? head.parentHash : (await this.reader.block(number, signal)).hash;
      if (this.at(number)?.hash === hash) return number;
    }
    return null;
  }

  /** Appends a block to its parent. Only now, with a replacement at hand, are the blocks of the old branch removed. */
  private append(block: ChainBlock): void {
    // The node may have switched branches and back during the search for the fork: then the fork is higher than found.
    if (this.at(block.number)?.hash === block.hash) return;
    if (block.parentHash !== this.at(block.number - 1)?.hash) {
      throw new UpstreamError(
        'inconsistent',
        `block ${block.number} of the node does not follow its last one`,
      );
    }
    this.cut(block.number - 1);
    this.blocks.push(block);
    if (this.blocks.length > REORG_BLOCKS) this.blocks.shift();
    for (const listener of this.listeners) listener.added(block);
  }

  /** Removes every block above `to`. */
  private cut(to: number): void {
    const first = this.blocks.findIndex((block) => block.number > to);
    if (first < 0) return;
    const removed = this.blocks.splice(first);
    for (const block of removed) block.orphaned = true;
    for (const listener of this.listeners) listener.removed(removed);
  }

  private async lose(signal: AbortSignal): Promise<void> {
    this.options.log.warn(
      { tip: this.tip?.number },
      'the chain was reorganised deeper than streams can take back',
    );
    const gone = this.blocks;
    // Clients that reconnect get every block after the new tip.
    await this.loadTip(signal);
    for (const block of gone) block.orphaned = true;
    for (const listener of this.listeners) listener.lost();
  }

  private at(number: number): ChainBlock | undefined {
    return this.blocks[number - (this.blocks[0]?.number ?? 0)];
  }

  private scheduleLook(signal: AbortSignal, afterMs?: number): void {
    if (signal.aborted) return;
    clearTimeout(this.nextLook);
    const { source, pollMs } = this.options;
    const wait = afterMs ?? (source.feed?.connected ? Math.max(CHECK_MS, pollMs) : pollMs);
    this.nextLook = setTimeout(() => void this.look(signal), wait).unref();
  }

  /** Polls the head. If a head found by a poll is still not announced at the next poll, reconnects the announcements. */
  private async look(signal: AbortSignal): Promise<void> {
    const { feed } = this.options.source;
    try {
      if (this.unannounced && feed?.connected) feed.reconnect('a head was not announced');
      const head = await this.reader.block('latest', signal);
      const isNew = this.known !== null && this.known !== head.hash;
      this.unannounced = isNew && this.at(head.number)?.hash !== head.hash;
      this.known = head.hash;
      this.announce(head, signal);
    } catch (error) {
      if (!signal.aborted) this.noteFailure(error);
    }
    this.scheduleLook(signal);
  }
}
