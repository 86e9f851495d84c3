/**
 * Follows the node's chain and pushes it to listeners. Whatever the node announces, skips or withdraws, they see one
 * chain that grows and, on a reorg, shrinks: no block is left out and none comes twice.
 */
import { backoffMs, once } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import type { BlockRef } from '../model/block.ts';
import type { NodeConnection } from '../node/connection.ts';
import { type ChainBlock, ChainReader, MAX_REORG_DEPTH } from './block.ts';
import { HeadSource } from './head-source.ts';
import { ChainWindow } from './window.ts';

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

/** A period during which the chain is followed. */
interface Session {
  stop: AbortController;
  /** Resolves once listeners get every later block. */
  ready: Promise<void>;
}

/** Blocks before the head that are fetched at the start, to find the fork of a reorg soon afterwards. */
const FIRST_BLOCKS = 32;
/** Most heads that may wait; dropped ones are fetched. */
const MAX_QUEUED_HEADS = 64;
/** How long the chain is followed without users, milliseconds: clients come back. */
const LINGER_MS = 30_000;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 5_000;

export class ChainFollower {
  private readonly options: ChainFollowerOptions;
  private readonly reader: ChainReader;
  private readonly listeners: ChainListener[] = [];
  private readonly window = new ChainWindow<ChainBlock>({
    capacity: MAX_REORG_DEPTH,
    setBackMs: Number.POSITIVE_INFINITY,
  });
  /** Null while nobody follows the chain. */
  private session: Session | null = null;
  private userCount = 0;
  private lingerTimer: NodeJS.Timeout | undefined;
  private headQueue: ChainBlock[] = [];
  private isProcessing = false;
  /** Failures since the chain last advanced. */
  private failures = 0;

  /** The index's last block, null while it is empty. */
  indexed: BlockRef | null = null;

  constructor(options: ChainFollowerOptions) {
    this.options = options;
    this.reader = new ChainReader(options.node.client);
  }

  addListener(listener: ChainListener): void {
    this.listeners.push(listener);
  }

  /** The newest block that listeners got, or that was the head when following began. */
  get tip(): ChainBlock | undefined {
    return this.window.tip;
  }

  /** The known blocks from a height on, oldest first. */
  blocksFrom(number: number): ChainBlock[] {
    return this.window.blocksFrom(number);
  }

  /**
   * Follows the chain at least until the returned function is called. Once this has resolved, listeners get every later
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

  /** Call it when the index was rolled back to a block: all above it are no longer on the node's chain. */
  noteRollback(to: number): void {
    this.window.noteRollback(to);
  }

  close(): void {
    clearTimeout(this.lingerTimer);
    this.session?.stop.abort();
    this.session = null;
  }

  private release(): void {
    this.userCount--;
    if (this.userCount === 0) this.lingerTimer = setTimeout(() => this.close(), LINGER_MS).unref();
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
      this.window.clear();
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
    this.window.clear(); // forgets the rollbacks since the last session
    await this.loadTip(signal);
    heads.pollIn();
    void this.processHeads(heads, signal);
  }

  private async loadTip(signal: AbortSignal): Promise<void> {
    const head = await this.reader.fetchBlock('latest', signal);
    this.window.restart([...(await this.reader.fetchAncestors(head, FIRST_BLOCKS, signal)), head]);
  }

  private enqueueHead(head: ChainBlock, heads: HeadSource, signal: AbortSignal): void {
    this.headQueue.push(head);
    if (this.headQueue.length > MAX_QUEUED_HEADS) this.headQueue.shift();
    void this.processHeads(heads, signal);
  }

  /** Extends the chain to each queued head, one after the other. */
  private async processHeads(heads: HeadSource, signal: AbortSignal): Promise<void> {
    if (this.isProcessing || this.window.isEmpty) return;
    this.isProcessing = true;
    try {
      for (let head = this.headQueue.shift(); head !== undefined; head = this.headQueue.shift()) {
        await this.extendTo(head, signal);
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

  /** Logs a failure once when it persists, and not again before the chain advances. */
  private recordFailure(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    this.failures++;
    // A single failure is normal: the chain may change while it is read.
    if (this.failures === 2)
      this.options.log.warn({ err: error }, 'cannot follow the chain of the node; retrying');
  }

  private async extendTo(head: ChainBlock, signal: AbortSignal): Promise<void> {
    const position = this.window.locate(head, performance.now());
    if (position === 'set back') return this.handleDeepReorg(signal);
    if (position !== 'new') return;
    const fork = await this.window.findForkPoint(
      head,
      async (number) => (await this.reader.fetchBlock(number, signal)).hash,
    );
    if (fork < this.window.oldestNumber) {
      await this.requireIndexedChain(signal);
      return this.handleDeepReorg(signal);
    }
    for await (const block of this.reader.fetchRange(fork + 1, head.number - 1, signal)) this.append(block);
    this.append(head);
  }

  /** Appends a block to its parent. Only now, with a replacement at hand, are the blocks of the old branch removed. */
  private append(block: ChainBlock): void {
    // The node may have switched branches and back during the search for the fork: then the fork is higher than found.
    if (this.window.hashAt(block.number) === block.hash) return;
    if (block.parentHash !== this.window.hashAt(block.number - 1)) {
      throw new UpstreamError(
        'inconsistent',
        `the node's block ${block.number} is not a child of its block ${block.number - 1}`,
      );
    }
    const removed = this.window.removeFrom(block.number);
    if (removed.length > 0) {
      for (const orphan of removed) orphan.orphaned = true;
      for (const listener of this.listeners) listener.onBlocksRemoved(removed);
    }
    this.window.push(block);
    for (const listener of this.listeners) listener.onBlockAdded(block);
  }

  /**
   * Throws UpstreamError unless the node has the index's last block: a chain that shares no known block may be another
   * one altogether. The index tells a reorg from that, and follows only a reorg.
   */
  private async requireIndexedChain(signal: AbortSignal): Promise<void> {
    const { indexed } = this;
    if (indexed === null) return;
    const { hash } = await this.reader.fetchBlock(indexed.number, signal);
    if (hash === indexed.hash) return;
    throw new UpstreamError(
      'inconsistent',
      `the node is not on the indexed chain: its block ${indexed.number} is ${hash}, that of the index ${indexed.hash}`,
    );
  }

  private async handleDeepReorg(signal: AbortSignal): Promise<void> {
    this.options.log.warn(
      { tip: this.tip?.number },
      'the chain was reorganised deeper than streams can undo',
    );
    const orphans = this.window.blocksFrom(0);
    // Clients that reconnect get every block after the new tip.
    await this.loadTip(signal);
    for (const orphan of orphans) orphan.orphaned = true;
    for (const listener of this.listeners) listener.onDeepReorg();
  }
}
