/**
 * The serving side's one view of the node's chain: its newest blocks, its reorgs and its finality. Streams follow the
 * chain and get each change at once; filters refresh it when a client polls and read the changes from a journal; the
 * cache of `/rpc` asks what is final. Whatever the node announces, skips or withdraws, all see one chain that grows
 * and, on a reorg, shrinks, without missing or repeated blocks.
 */

import { backoffMs, once } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import type { Logger } from '../log/logger.ts';
import type { BlockRef } from '../model/block.ts';
import type { FinalityRule } from '../model/finality.ts';
import type { NodeConnection } from '../node/connection.ts';
import { pollFinality } from '../node/finality-poll.ts';
import { type ChainBlock, ChainReader, MAX_REORG_DEPTH } from './block.ts';
import { FinalityWatch } from './finality-watch.ts';
import { HeadSource } from './head-source.ts';
import { ChainJournal } from './journal.ts';
import { ChainWindow } from './window.ts';

export interface ChainListener {
  onBlockAdded(block: ChainBlock): void;
  /** These blocks have left the chain; oldest first. */
  onBlocksRemoved(blocks: readonly ChainBlock[]): void;
  /** A reorg deeper than the known blocks: blocks reported earlier are gone and cannot be reported as removed. */
  onDeepReorg(): void;
}

interface ChainTrackerOptions {
  node: NodeConnection;
  /** Milliseconds between polls of the node's head while heads are not announced. */
  pollMs: number;
  /** `index.max_reorg`. */
  maxReorg: number;
  log: Logger;
}

/** A period in which the chain is followed. */
interface Session {
  stop: AbortController;
  /** Resolves once listeners get every later block. */
  ready: Promise<void>;
}

/** Blocks fetched before the head at the start, to find the fork of an early reorg. */
const FIRST_BLOCKS = 32;
/** Most queued heads. Dropped heads are fetched. */
const MAX_QUEUED_HEADS = 64;
/** How long the chain is followed without users, milliseconds, because clients come back. */
const LINGER_MS = 30_000;
/** A refresh that finds more new blocks than this starts over instead of fetching each. */
const MAX_GAP = 4_096;
/** After this long without a refresh, no filter remembers a position in the journal, milliseconds. */
const JOURNAL_IDLE_MS = 6 * 60_000;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 5_000;

export class ChainTracker {
  /** Which block is final. The cache of `/rpc` depends on it. */
  readonly finality: FinalityWatch;
  /** The changes of the chain, for filters. `refresh` brings it up to date. */
  readonly journal = new ChainJournal();
  private readonly options: ChainTrackerOptions;
  private readonly reader: ChainReader;
  private readonly listeners: ChainListener[] = [];
  private readonly window = new ChainWindow<ChainBlock>(MAX_REORG_DEPTH);
  /** Null while no stream follows the chain. */
  private session: Session | null = null;
  private userCount = 0;
  private lingerTimer: NodeJS.Timeout | undefined;
  private headQueue: ChainBlock[] = [];
  private isProcessing = false;
  /** Failures since the chain last advanced. */
  private failures = 0;
  /** Settles when the last change of the window that was started is complete. Changes run one after another. */
  private turn: Promise<unknown> = Promise.resolve();
  /** The refresh that has not started yet. Callers share it. */
  private nextRefresh: Promise<void> | null = null;
  private refreshedAt = Number.NEGATIVE_INFINITY;
  private readonly closed = new AbortController();

  /** The index's last block, null while it is empty. */
  indexed: BlockRef | null = null;

  constructor(options: ChainTrackerOptions) {
    this.options = options;
    this.reader = new ChainReader(options.node.client);
    const poll = (rule: FinalityRule, heights: readonly number[]) =>
      pollFinality(options.node.client, rule, heights);
    this.finality = new FinalityWatch(poll, options.maxReorg);
  }

  addListener(listener: ChainListener): void {
    this.listeners.push(listener);
  }

  /** The newest block that listeners got, or the head when tracking began. */
  get tip(): ChainBlock | undefined {
    return this.window.tip;
  }

  /** Height of the oldest known block. */
  get oldestNumber(): number {
    return this.window.oldestNumber;
  }

  /** The known blocks from a height up, oldest first. */
  blocksFrom(number: number): ChainBlock[] {
    return this.window.blocksFrom(number);
  }

  /**
   * Follows the chain at least until the returned function is called. After it resolves, listeners get every later
   * block. Rejects with UpstreamError when the node's head cannot be read.
   */
  async acquire(): Promise<() => void> {
    this.userCount++;
    clearTimeout(this.lingerTimer);
    try {
      this.session ??= this.startSession();
      await this.session.ready;
    } catch (error) {
      this.release();
      throw error;
    }
    return once(() => this.release());
  }

  /**
   * Brings the chain up to the node's head. A client that polls because of a new block must find that block, so a
   * refresh in progress does not count: another one follows it. Rejects with UpstreamError when the chain cannot be
   * read.
   */
  refresh(): Promise<void> {
    this.nextRefresh ??= this.inTurn(() => {
      this.nextRefresh = null;
      const isCurrent = this.session !== null || this.isRemembered;
      this.refreshedAt = performance.now();
      return this.catchUp(this.closed.signal, isCurrent);
    });
    return this.nextRefresh;
  }

  /** Call when the index was rolled back to a block: all blocks above have left the node's chain. */
  noteRollback(to: number): void {
    this.window.noteRollback(to);
    this.finality.rolledBack(to);
  }

  close(): void {
    this.closed.abort();
    this.endSession();
  }

  private endSession(): void {
    clearTimeout(this.lingerTimer);
    this.session?.stop.abort();
    this.session = null;
  }

  private release(): void {
    this.userCount--;
    if (this.userCount === 0)
      this.lingerTimer = setTimeout(
        guarded('chain tracker', () => this.endSession()),
        LINGER_MS,
      ).unref();
  }

  private startSession(): Session {
    const { node, pollMs, log } = this.options;
    const stop = new AbortController();
    const { signal } = stop;
    const heads = new HeadSource(
      {
        node,
        reader: this.reader,
        pollMs,
        onHead: (head) => this.enqueueHead(head, heads, signal),
        onPollFailed: (error) => this.recordFailure(error),
        isKnownOrBelow: (head) => this.window.isKnownOrBelow(head),
        log,
      },
      signal,
    );
    signal.addEventListener('abort', () => {
      this.headQueue = [];
    });
    const ready = this.begin(heads, signal).catch((error: unknown) => {
      stop.abort();
      this.session = null;
      throw error;
    });
    return { stop, ready };
  }

  private async begin(heads: HeadSource, signal: AbortSignal): Promise<void> {
    await this.inTurn(() => this.catchUp(signal, this.isRemembered));
    heads.pollIn();
    void this.processHeads(heads, signal);
  }

  /** Runs `work` once all earlier changes of the window are complete. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined); // the caller gets the error
    return done;
  }

  /** Whether a filter may remember a position in the journal. */
  private get isRemembered(): boolean {
    return this.refreshedAt >= performance.now() - JOURNAL_IDLE_MS;
  }

  /** Reads the node's head. Extends the known blocks to it if they are in use, otherwise starts over. */
  private async catchUp(signal: AbortSignal, isInUse: boolean): Promise<void> {
    const head = await this.reader.fetchBlock('latest', signal);
    const { tip } = this;
    const isNear = tip !== undefined && head.number - tip.number <= MAX_GAP;
    if (!isInUse || !isNear) return this.restartAt(head, signal);
    try {
      // A head no higher than the tip may come from a node on an abandoned branch.
      const isOther = head.number <= tip.number && head.hash !== this.window.hashAt(head.number);
      if (isOther && (await this.reader.fetchHash(tip.number, signal)) === tip.hash) return;
      await this.extendTo(head, signal);
    } catch (error) {
      // The chain changed during the read. The blocks read are valid, and the next refresh continues from them.
      if (!(error instanceof UpstreamError && error.reason === 'inconsistent')) throw error;
    }
  }

  private async restartAt(head: ChainBlock, signal: AbortSignal): Promise<void> {
    this.window.restart([...(await this.reader.fetchAncestors(head, FIRST_BLOCKS, signal)), head]);
    this.journal.restart();
  }

  private enqueueHead(head: ChainBlock, heads: HeadSource, signal: AbortSignal): void {
    this.headQueue.push(head);
    if (this.headQueue.length > MAX_QUEUED_HEADS) this.headQueue.shift();
    void this.processHeads(heads, signal);
  }

  /** Extends the chain to each queued head, one after another. */
  private async processHeads(heads: HeadSource, signal: AbortSignal): Promise<void> {
    if (this.isProcessing || this.window.isEmpty) return;
    this.isProcessing = true;
    try {
      for (let head = this.headQueue.shift(); head !== undefined; head = this.headQueue.shift()) {
        const next = head;
        await this.inTurn(() => this.extendTo(next, signal));
        this.failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      this.recordFailure(error);
      this.headQueue = [];
      heads.pollIn(backoffMs(this.failures, RETRY_MIN_MS, RETRY_MAX_MS));
    } finally {
      this.isProcessing = false;
    }
  }

  /** Logs a persistent failure once, and not again before the chain advances. */
  private recordFailure(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    this.failures++;
    // A single failure is normal, because the chain may change during a read.
    if (this.failures === 2)
      this.options.log.warn({ err: error }, 'cannot follow the chain of the node; retrying');
  }

  private async extendTo(head: ChainBlock, signal: AbortSignal): Promise<void> {
    const position = this.window.locate(head);
    if (position === 'set back') return this.handleDeepReorg(signal);
    if (position !== 'new') return;
    const fork = await this.window.findForkPoint(head, (number) => this.reader.fetchHash(number, signal));
    if (fork < this.window.oldestNumber) {
      await this.requireIndexedChain(signal);
      return this.handleDeepReorg(signal);
    }
    for await (const block of this.reader.fetchRange(fork + 1, head.number - 1, signal)) this.append(block);
    this.append(head);
  }

  /** Appends a block to its parent. Only now, with a replacement at hand, are the blocks of the old branch removed. */
  private append(block: ChainBlock): void {
    // The node may have switched branches and back during the search, so the fork is higher than found.
    if (this.window.hashAt(block.number) === block.hash) return;
    if (block.parentHash !== this.window.hashAt(block.number - 1)) {
      throw new UpstreamError(
        'inconsistent',
        `the node's block ${block.number} is not a child of its block ${block.number - 1}`,
      );
    }
    const removed = this.window.removeFrom(block.number);
    if (removed.length > 0) {
      for (const orphan of removed) {
        orphan.orphaned = true;
        this.journal.record(orphan, false);
      }
      for (const listener of this.listeners) listener.onBlocksRemoved(removed);
    }
    this.window.push(block);
    this.journal.record(block, true);
    for (const listener of this.listeners) listener.onBlockAdded(block);
  }

  /**
   * Throws UpstreamError unless the node has the index's last block: a chain that shares no known block may be another
   * chain altogether. The index tells a reorg from another chain, and follows only a reorg.
   */
  private async requireIndexedChain(signal: AbortSignal): Promise<void> {
    const { indexed } = this;
    if (indexed === null) return;
    const { hash } = await this.reader.fetchBlock(indexed.number, signal);
    if (hash === indexed.hash) return;
    throw new UpstreamError(
      'inconsistent',
      `the node is not on the indexed chain: its block ${indexed.number} is ${hash}, the index has ${indexed.hash}`,
    );
  }

  private async handleDeepReorg(signal: AbortSignal): Promise<void> {
    this.options.log.warn(
      { tip: this.tip?.number },
      'the chain was reorganised deeper than streams can undo',
    );
    const orphans = this.window.blocksFrom(0);
    // Clients that reconnect get every block after the new tip.
    await this.restartAt(await this.reader.fetchBlock('latest', signal), signal);
    for (const orphan of orphans) orphan.orphaned = true;
    for (const listener of this.listeners) listener.onDeepReorg();
  }
}
