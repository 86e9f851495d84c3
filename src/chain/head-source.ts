/**
 * The heads of the node, announced over its WebSocket if it has one, and polled. Polls also find heads whose
 * announcement was lost; then the connection is replaced.
 */
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

/** The state of head announcements. */
type Announcements =
  /** The node has a WebSocket but does not announce heads on it. */
  | { kind: 'refused' }
  /** The connection changed: the head at that moment is not announced. */
  | { kind: 'starting' }
  | { kind: 'current'; lastHash: string }
  /** A poll found a new head that was not announced. */
  | { kind: 'missed'; lastHash: string };

export class HeadSource {
  private readonly options: HeadSourceOptions;
  private readonly malformed: MalformedNotifications;
  private readonly signal: AbortSignal;
  private announcements: Announcements = { kind: 'starting' };
  /** Heads announced or polled so far. */
  private headCount = 0;
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
      const head = this.options.reader.readAnnounced(value);
      this.announcements = { kind: 'current', lastHash: head.hash };
      this.emit(head);
    } catch (error) {
      this.malformed.report(error);
    }
  }

  private emit(head: ChainBlock): void {
    this.headCount++;
    this.options.onHead(head);
  }

  /** Reconnects if a head that a poll found is still unannounced at the next poll. */
  private async poll(): Promise<void> {
    const { node, reader, onPollFailed } = this.options;
    try {
      if (this.announcements.kind === 'missed' && this.expectsAnnouncements)
        node.subscriptions?.reconnect('a head was not announced');
      const { headCount } = this;
      const head = await reader.fetchBlock('latest', this.signal);
      // Only the node knows which of two heads is later: a head that arrived meanwhile may have replaced this one.
      if (headCount === this.headCount) {
        this.noteFetched(head);
        this.emit(head);
      }
    } catch (error) {
      if (!this.signal.aborted) onPollFailed(error);
    }
    this.pollIn();
  }

  private noteFetched(head: ChainBlock): void {
    const { announcements } = this;
    if (announcements.kind === 'refused') return;
    const isNew = announcements.kind !== 'starting' && announcements.lastHash !== head.hash;
    const isMissed = isNew && !this.options.isKnownOrBelow(head);
    this.announcements = { kind: isMissed ? 'missed' : 'current', lastHash: head.hash };
  }
}
