/** Reports to subscribers that ask for it up to which block they have all their events. */
import type { BlockRef } from '../../model/block.ts';
import { Notification } from '../subscription.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** Shortest time between two reports to a subscriber that is behind, milliseconds. */
const BEHIND_MS = 250;

interface ProgressOptions {
  /** The mark to name beside a block, null for one that was never rewritten. */
  markOf(block: number): string | null;
  /** A report was put off and is due now. */
  onDue(): void;
}

export class ProgressReports {
  private readonly options: ProgressOptions;
  /** Those that asked for reports. */
  private readonly subscribers = new Set<TransferSubscription>();
  private timer: NodeJS.Timeout | null = null;

  constructor(options: ProgressOptions) {
    this.options = options;
  }

  add(subscriber: TransferSubscription): void {
    this.subscribers.add(subscriber);
  }

  delete(subscriber: TransferSubscription): void {
    this.subscribers.delete(subscriber);
  }

  /** Reports the newest block to the subscribers among `live`. `isBehind`: several blocks are committed at a time. */
  reportLive(live: ReadonlySet<TransferSubscription>, block: BlockRef, isBehind: boolean): void {
    let wait = 0;
    for (const subscriber of this.subscribers)
      if (live.has(subscriber))
        wait = Math.max(wait, this.report(subscriber, block, true, isBehind ? BEHIND_MS : 0));
    if (wait === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.options.onDue();
    }, wait).unref();
  }

  /** Reports how far a replay has come. `blockReached` is undefined where no whole block was replayed yet. */
  reportReplay(subscriber: TransferSubscription, blockReached: () => BlockRef | undefined): void {
    if (!this.subscribers.has(subscriber) || isEarly(subscriber, BEHIND_MS)) return;
    const block = blockReached();
    if (block !== undefined && block.number >= (subscriber.fromBlock ?? 0))
      this.report(subscriber, block, false, BEHIND_MS);
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Behind the events that wait. Returns how long the report is put off, milliseconds. */
  private report(
    subscriber: TransferSubscription,
    block: BlockRef,
    live: boolean,
    atLeastMs: number,
  ): number {
    const { reported, method } = subscriber;
    if (reported?.hash === block.hash && reported.live === live) return 0;
    if (reported?.live === live && isEarly(subscriber, atLeastMs)) return BEHIND_MS;
    subscriber.reported = { hash: block.hash, live, at: performance.now() };
    const mark = this.options.markOf(block.number);
    const progress = {
      blockNumber: block.number,
      blockHash: block.hash,
      live,
      ...(mark !== null && { rewrites: mark }),
    };
    const notification = new Notification(method, JSON.stringify({ progress }));
    subscriber.inOrder(() => subscriber.subscription.push(notification));
    return 0;
  }
}

function isEarly({ reported }: TransferSubscription, atLeastMs: number): boolean {
  return reported !== null && performance.now() - reported.at < atLeastMs;
}
