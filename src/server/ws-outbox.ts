/**
 * The send queue of one WebSocket. The library is given little more than the system accepts at once, so that the backlog
 * of a slow client stays here, where notices are shared with other clients and can be dropped on closing.
 */
import type { Account } from '../lib/byte-budget.ts';
import type { Notice } from '../stream/notice.ts';
import type { WebSocket } from './uws.ts';

/** Size up to which messages are joined, and after which it is checked whether the system accepted what the library got. */
const CHUNK_BYTES = 64 * 1024;

/** What may wait. */
export interface OutboxLimits {
  /** Bytes of notifications. */
  notificationBytes: number;
  /** The memory of answers that the client's key has. */
  answers: Account;
}

type Item = { notice: Notice; id: Uint8Array } | { text: string | Buffer; bytes: number };

/** The library's result for a message that the system accepted completely. */
const TAKEN = 1;

/** Outboxes with something to send at the end of the present task. */
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
  /** Bytes that the library holds because the system did not accept them; the queue waits until they are sent. */
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

  /** Calls back once the backlog is empty. */
  whenDrained(callback: () => void): void {
    if (this.backlog === 0) callback();
    else if (!this.stopped) this.drained.push(callback);
  }

  /**
   * Call it when the system accepted some of what the library held. More is sent in another task: if the system accepts
   * only part of a message of 16 KiB or more during this call, the library never sends the rest.
   */
  onDrain(): void {
    if (this.stopped) return;
    this.lookAtUnsent();
    if (this.unsentBytes > 0 || this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flushScheduled());
  }

  /** Bytes that the library itself buffers: pongs that the client does not read. */
  get unsentPongs(): number {
    return this.socket.getBufferedAmount() - this.unsentBytes;
  }

  /** Drops the backlog; nothing is sent from now on. */
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

  /** Sends as much of the backlog as the system accepts. */
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

  /** Hands a chunk to the library; returns the index after it. */
  private sendFrom(start: number): number {
    if (start + 1 === this.queue.length) {
      // In the most frequent case, a single message, the result says whether the system accepted it.
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
