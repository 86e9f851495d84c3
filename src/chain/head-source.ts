/**
 * The heads of the node, read when its WebSocket announces one, and polled. An announcement only tells when to read:
 * its hash may be another one than the block's. Polls also find heads whose announcement was lost; then the connection
 * is replaced.
 */
import { backoffMs, pause } from '../lib/async.ts';
import { guarded } from '../lib/guard.ts';
import type { Logger } from '../log/logger.ts';
import type { BlockRef } from '../model/block.ts';
import { MalformedNotifications, type NodeConnection } from '../node/connection.ts';
import type { ChainBlock, ChainReader } from './block.ts';

interface HeadSourceOptions {
  node: NodeConnection;
  reader: ChainReader;
  /** Milliseconds between polls while heads are not announced. */
  pollMs: number;
  /** Called with each head, in the node's order. */
  onHead: (head: ChainBlock) => void;
  onPollFailed: (error: unknown) => void;
  /** Whether the node announces nothing when this block becomes its head. */
  isKnownOrBelow: (head: BlockRef) => boolean;
  log: Logger;
}

/** Milliseconds between polls while heads are announced, because an open connection can lose announcements. */
const ANNOUNCED_POLL_MS = 2_000;

/**
 * Waits for a head that is announced before the node serves it, milliseconds, and how many. Then the next poll has it.
 */
const UNSERVED_MIN_MS = 10;
const UNSERVED_MAX_MS = 80;
const MAX_UNSERVED = 8;

interface Announced {
  number: number;
}

/** The state of head announcements. */
type Announcements =
  /** The node has a WebSocket but does not announce heads on it. */
  | { kind: 'refused' }
  /** The connection changed: the head at that moment is not announced. */
  | { kind: 'starting' }
  /** `lastHash` is that of the head read last. */
  | { kind: 'current'; lastHash: string }
  /** A poll found a new head that was not announced. */
  | { kind: 'missed'; lastHash: string };

export class HeadSource {
  private readonly options: HeadSourceOptions;
  private readonly malformed: MalformedNotifications;
  private readonly signal: AbortSignal;
  private announcements: Announcements = { kind: 'starting' };
  /** The last announcement; each is another object. */
  private announced: Announced | null = null;
  /** Whether an announced head is being read. */
  private isReading = false;
  /** Requests of the head so far, and the last one whose answer was reported. */
  private requested = 0;
  private reported = 0;
  private pollTimer: NodeJS.Timeout | undefined;

  /** Until the signal aborts, reports announced heads, and polls once `pollIn` is called or the connection changes. */
  constructor(options: HeadSourceOptions, signal: AbortSignal) {
    this.options = options;
    this.signal = signal;
    this.malformed = new MalformedNotifications(options.log, 'head');
    const { node, log } = options;
    const unlisten = node.onConnectionChange(() => {
      if (this.announcements.kind !== 'refused') this.announcements = { kind: 'starting' };
      this.pollIn(0);
    });
    const unsubscribe = node.subscriptions?.subscribe(
      ['newHeads'],
      (head) => this.onAnnounced(head),
      (error) => {
        this.announcements = { kind: 'refused' };
        log.warn({ err: error }, 'the node refuses newHeads; polling its head instead');
      },
      () => {
        if (this.announcements.kind === 'refused') this.announcements = { kind: 'starting' };
      },
    );
    signal.addEventListener('abort', () => {
      unlisten();
      unsubscribe?.();
      clearTimeout(this.pollTimer);
    });
  }

  /** Polls the head after this many milliseconds, or the usual interval, in place of the scheduled poll. */
  pollIn(ms = this.pollInterval): void {
    if (this.signal.aborted) return;
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(
      guarded('poll of the head', () => this.poll()),
      ms,
    ).unref();
  }

  private get pollInterval(): number {
    const { pollMs } = this.options;
    return this.expectsAnnouncements ? Math.max(ANNOUNCED_POLL_MS, pollMs) : pollMs;
  }

  private get expectsAnnouncements(): boolean {
    return this.options.node.subscriptions?.connected === true && this.announcements.kind !== 'refused';
  }

  private onAnnounced(value: unknown): void {
    try {
      this.announced = { number: this.options.reader.readAnnounced(value) };
    } catch (error) {
      return this.malformed.report(error);
    }
    guarded('read of an announced head', () => this.readAnnounced())();
  }

  /** Reconnects if a head that a poll found is still unannounced at the next poll. */
  private async poll(): Promise<void> {
    try {
      if (this.announcements.kind === 'missed' && this.expectsAnnouncements)
        this.options.node.subscriptions?.reconnect('a head was not announced');
      const { announced } = this;
      const head = await this.readHead();
      if (head !== null && announced === this.announced) this.noteFetched(head);
    } catch (error) {
      if (!this.signal.aborted) this.options.onPollFailed(error);
    }
    this.pollIn();
  }

  /** Reads the head, and again while the node does not serve what it announced, or announces others meanwhile. */
  private async readAnnounced(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    try {
      let read: Announced | null = null;
      for (let attempt = 1; read !== this.announced && !this.signal.aborted; attempt++) {
        const { announced } = this;
        const head = await this.readHead();
        if (head !== null) this.announcements = { kind: 'current', lastHash: head.hash };
        const isServed = head === null || announced === null || head.number >= announced.number;
        if (isServed || attempt > MAX_UNSERVED) [read, attempt] = [announced, 0];
        else await pause(backoffMs(attempt, UNSERVED_MIN_MS, UNSERVED_MAX_MS), this.signal);
      }
    } catch (error) {
      if (!this.signal.aborted) this.options.onPollFailed(error); // the next poll reads it
    } finally {
      this.isReading = false;
    }
  }

  /**
   * Reads and reports the head; null if one that was requested later is reported already. Only the node knows which of
   * two heads is later: an answer from before a reorg must not undo it.
   */
  private async readHead(): Promise<ChainBlock | null> {
    const request = ++this.requested;
    const head = await this.options.reader.fetchBlock('latest', this.signal);
    if (request < this.reported) return null;
    this.reported = request;
    this.options.onHead(head);
    return head;
  }

  private noteFetched(head: ChainBlock): void {
    const { announcements } = this;
    if (announcements.kind === 'refused') return;
    const isNew = announcements.kind !== 'starting' && announcements.lastHash !== head.hash;
    const isMissed = isNew && !this.options.isKnownOrBelow(head);
    this.announcements = { kind: isMissed ? 'missed' : 'current', lastHash: head.hash };
  }
}
