/**
 * What waits to be sent to one WebSocket. The library is given little more than the system takes at once, so that
 * what a slow client does not take lies here, shared with other clients, and can be dropped when it is closed.
 */
import type { Account } from '../lib/byte-budget.ts';
import type { Notice } from '../stream/notice.ts';
import type { WebSocket } from './uws.ts';

/** Bytes that are not gathered further, and that the library gets between two looks at whether the system took them. */
const CHUNK_BYTES = 64 * 1024;

/** What may wait. */
export interface OutboxLimits {
  /** Bytes of notifications. */
  notificationBytes: number;
  /** The memory of answers that the client's key has. */
  answers: Account;
}

type Item = { notice: Notice; id: Uint8Array } | { text: string | Buffer; bytes: number };

/** What the library says of a message that went to the system as a whole. */
const TAKEN = 1;

/** Those that have something to send at the end of the present task. */
let waiting: Outbox[] = [];

function flushAll(): void {
  const outboxes = waiting;
  waiting = [];
  for (const outbox of outboxes) outbox.flushScheduled();
}

export class Outbox {
  private readonly socket: Pick<WebSocket<unknown>, 'send' | 'cork' | 'getBufferedAmount'>;
  private readonly limits: OutboxLimits;
  private readonly onOverflow: () => void;
  private queue: Item[] = [];
  private queuedBytes = 0;
  /** Bytes that the library holds because the system did not take them; the rest waits for them. */
  private unsentBytes = 0;
  /** Of both, what is answers. */
  private queuedAnswers = 0;
  private unsentAnswers = 0;
  /** Of these, what was taken from the account. */
  private accounted = 0;
  private scheduled = false;
  private stopped = false;
  private drained: (() => void)[] = [];

  /** `onOverflow` is called once, when more waits than the limits allow; nothing is sent any more then. */
  constructor(socket: Outbox['socket'], limits: OutboxLimits, onOverflow: () => void) {
    this.socket = socket;
    this.limits = limits;
    this.onOverflow = onOverflow;
  }

  /** Bytes that wait. */
  get backlog(): number {
    return this.queuedBytes + this.unsentBytes;
  }

  notify(notice: Notice, id: Uint8Array): void {
    this.push({ notice, id }, notice.bytes);
  }

  /** Sends the answer to a call. It may be large: the client has asked for it, and gets no more while it waits (ws-inbox.ts). */
  answer(text: string | Buffer): void {
    if (this.stopped) return;
    const bytes = Buffer.byteLength(text);
    if (!this.limits.answers.take(bytes)) return this.overflow();
    this.accounted += bytes;
    this.queuedAnswers += bytes;
    this.push({ text, bytes }, bytes);
  }

  /** Calls back once nothing waits any more. */
  whenDrained(callback: () => void): void {
    if (this.backlog === 0) callback();
    else if (!this.stopped) this.drained.push(callback);
  }

  /**
   * To be called when the system took something of what the library held. More is sent in another task: of a message of
   * 16 KiB or more that the system takes only in part within this call, the library never sends the rest.
   */
  onDrain(): void {
    if (this.stopped) return;
    this.lookAtUnsent();
    if (this.unsentBytes > 0 || this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flushScheduled());
  }

  /** Bytes that the library holds of its own accord: pongs that the client does not take. */
  get unsentPongs(): number {
    return this.socket.getBufferedAmount() - this.unsentBytes;
  }

  /** Drops what waits; nothing is sent from now on. */
  stop(): void {
    this.stopped = true;
    this.queue = [];
    this.queuedBytes = 0;
    this.queuedAnswers = 0;
    this.unsentAnswers = 0;
    this.settle();
    this.drained = [];
  }

  flushScheduled(): void {
    this.scheduled = false;
    this.flush();
  }

  /** Sends what waits, as far as the system takes it. */
  flush(): void {
    const { queue } = this;
    let sent = 0;
    while (!this.stopped && this.unsentBytes === 0 && sent < queue.length) sent = this.sendFrom(sent);
    if (sent === queue.length) queue.length = 0;
    else this.queue = queue.slice(sent);
    this.settle();
    if (this.backlog > 0) return;
    if (this.drained.length > 0) for (const callback of this.drained.splice(0)) callback();
  }

  /** Hands a chunk to the library; returns the place behind it. */
  private sendFrom(start: number): number {
    if (start + 1 === this.queue.length) {
      // The most frequent case, a single message, tells by itself whether the system took it.
      if (this.hand(this.queue[start]!) === TAKEN) this.unsentAnswers = 0;
      else this.lookAtUnsent();
      return start + 1;
    }
    let at = start;
    this.socket.cork(() => {
      for (let bytes = 0; at < this.queue.length && bytes < CHUNK_BYTES; at++) {
        const item = this.queue[at]!;
        this.hand(item);
        bytes += sizeOf(item);
      }
    });
    this.lookAtUnsent();
    return at;
  }

  private lookAtUnsent(): void {
    this.unsentBytes = this.socket.getBufferedAmount();
    this.unsentAnswers = Math.min(this.unsentAnswers, this.unsentBytes);
  }

  /** Gives back to the account what is not kept any more. */
  private settle(): void {
    const kept = this.queuedAnswers + this.unsentAnswers;
    if (kept === this.accounted) return;
    this.limits.answers.give(this.accounted - kept);
    this.accounted = kept;
  }

  private overflow(): void {
    this.stop();
    this.onOverflow();
  }

  private hand(item: Item): number {
    const bytes = sizeOf(item);
    this.queuedBytes -= bytes;
    if ('text' in item) {
      this.queuedAnswers -= bytes;
      this.unsentAnswers += bytes;
    }
    return this.socket.send('notice' in item ? item.notice.messageFor(item.id) : item.text, false);
  }

  private push(item: Item, bytes: number): void {
    if (this.stopped) return;
    this.queue.push(item);
    this.queuedBytes += bytes;
    if (this.queuedBytes > CHUNK_BYTES && this.unsentBytes === 0) this.flush();
    if (this.backlog - this.queuedAnswers - this.unsentAnswers > this.limits.notificationBytes) {
      this.overflow();
    } else if (!this.scheduled && this.unsentBytes === 0 && this.queuedBytes > 0) {
      this.scheduled = true;
      if (waiting.length === 0) queueMicrotask(flushAll);
      waiting.push(this);
    }
  }
}

function sizeOf(item: Item): number {
  return 'notice' in item ? item.notice.bytes : item.bytes;
}
