/**
 * The send queue of one WebSocket. The library is given little more than the system accepts at once. So the backlog of
 * a slow client stays here, where notifications are shared with other clients and can be dropped on closing.
 */
import type { ClientBudget } from '../lib/byte-budget.ts';
import type { Notification } from '../stream/notification.ts';
import type { WebSocket } from './uws.ts';

/** Messages are joined up to this size; after so much it is checked whether the system accepted what was sent. */
const CHUNK_BYTES = 64 * 1024;

/** What may wait. */
export interface OutboxLimits {
  /** Bytes of notifications. */
  notificationBytes: number;
  /** The memory of answers that the client's key has. */
  answerBudget: ClientBudget;
}

type QueuedMessage =
  | { notification: Notification; id: Uint8Array }
  | { text: string | Buffer; bytes: number };

/** The library's result for a message that the system accepted completely. */
const SEND_OK = 1;

/** Outboxes with something to send at the end of the present task. */
let scheduledOutboxes: Outbox[] = [];

function flushAll(): void {
  const outboxes = scheduledOutboxes;
  scheduledOutboxes = [];
  for (const outbox of outboxes) outbox.flushScheduled();
}

export class Outbox {
  private readonly socket: Pick<WebSocket<unknown>, 'send' | 'cork' | 'getBufferedAmount'>;
  private readonly limits: OutboxLimits;
  private readonly onOverflow: () => void;
  private queue: QueuedMessage[] = [];
  private queuedBytes = 0;
  /** Bytes that the library holds because the system did not accept them; the queue waits until they are sent. */
  private unsentBytes = 0;
  /** Of both, what is answers. */
  private queuedAnswerBytes = 0;
  private unsentAnswerBytes = 0;
  /** Of these, what is reserved in the budget. */
  private reservedBytes = 0;
  private scheduled = false;
  private stopped = false;
  private drainCallbacks: (() => void)[] = [];

  /** `onOverflow` is called once, when more waits than the limits allow; nothing is sent any more then. */
  constructor(socket: Outbox['socket'], limits: OutboxLimits, onOverflow: () => void) {
    this.socket = socket;
    this.limits = limits;
    this.onOverflow = onOverflow;
  }

  /** Bytes that wait. */
  get backlogBytes(): number {
    return this.queuedBytes + this.unsentBytes;
  }

  notify(notification: Notification, id: Uint8Array): void {
    this.enqueue({ notification, id }, notification.byteLength);
  }

  /**
   * Sends the answer to a call, which may be large: while it waits the client gets no others (ws-inbox.ts). Those of calls
   * made before may still be too many for the memory; what is given `instead` takes the place of such an answer.
   */
  answer(text: string | Buffer, instead?: () => string): void {
    if (this.stopped) return;
    const bytes = Buffer.byteLength(text);
    if (!this.limits.answerBudget.reserve(bytes)) {
      return instead === undefined ? this.overflow() : this.answer(instead());
    }
    this.reservedBytes += bytes;
    this.queuedAnswerBytes += bytes;
    this.enqueue({ text, bytes }, bytes);
  }

  /** Calls back once the backlog is empty. */
  whenDrained(callback: () => void): void {
    if (this.backlogBytes === 0) callback();
    else if (!this.stopped) this.drainCallbacks.push(callback);
  }

  /**
   * Call it when the system accepted some of what the library held. More is sent in another task: if the system accepts
   * only part of a message of 16 KiB or more during this call, the library never sends the rest.
   */
  onDrain(): void {
    if (this.stopped) return;
    this.refreshUnsent();
    if (this.unsentBytes > 0 || this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flushScheduled());
  }

  /** Bytes that the library itself buffers: pongs that the client does not read. */
  get unsentPongBytes(): number {
    return this.socket.getBufferedAmount() - this.unsentBytes;
  }

  /** Drops the backlog; nothing is sent from now on. */
  stop(): void {
    this.stopped = true;
    this.queue = [];
    this.queuedBytes = 0;
    this.queuedAnswerBytes = 0;
    this.unsentAnswerBytes = 0;
    this.releaseSent();
    this.drainCallbacks = [];
  }

  flushScheduled(): void {
    this.scheduled = false;
    this.flush();
  }

  /** Sends as much of the backlog as the system accepts. */
  private flush(): void {
    const { queue } = this;
    let sent = 0;
    while (!this.stopped && this.unsentBytes === 0 && sent < queue.length) sent = this.sendFrom(sent);
    if (sent === queue.length) queue.length = 0;
    else this.queue = queue.slice(sent);
    this.releaseSent();
    if (this.backlogBytes > 0) return;
    if (this.drainCallbacks.length > 0) for (const callback of this.drainCallbacks.splice(0)) callback();
  }

  /** Hands a chunk to the library; returns the index after it. */
  private sendFrom(start: number): number {
    if (start + 1 === this.queue.length) {
      // In the most frequent case, a single message, the result says whether the system accepted it.
      if (this.sendMessage(this.queue[start]!) === SEND_OK) this.unsentAnswerBytes = 0;
      else this.refreshUnsent();
      return start + 1;
    }
    let at = start;
    this.socket.cork(() => {
      for (let bytes = 0; at < this.queue.length && bytes < CHUNK_BYTES; at++) {
        const message = this.queue[at]!;
        this.sendMessage(message);
        bytes += sizeOf(message);
      }
    });
    this.refreshUnsent();
    return at;
  }

  private refreshUnsent(): void {
    this.unsentBytes = this.socket.getBufferedAmount();
    this.unsentAnswerBytes = Math.min(this.unsentAnswerBytes, this.unsentBytes);
  }

  /** Gives back to the budget what is not kept any more. */
  private releaseSent(): void {
    const kept = this.queuedAnswerBytes + this.unsentAnswerBytes;
    if (kept === this.reservedBytes) return;
    this.limits.answerBudget.release(this.reservedBytes - kept);
    this.reservedBytes = kept;
  }

  private overflow(): void {
    this.stop();
    this.onOverflow();
  }

  private sendMessage(message: QueuedMessage): number {
    const bytes = sizeOf(message);
    this.queuedBytes -= bytes;
    if ('text' in message) {
      this.queuedAnswerBytes -= bytes;
      this.unsentAnswerBytes += bytes;
    }
    return this.socket.send(
      'notification' in message ? message.notification.messageFor(message.id) : message.text,
      false,
    );
  }

  private enqueue(message: QueuedMessage, bytes: number): void {
    if (this.stopped) return;
    this.queue.push(message);
    this.queuedBytes += bytes;
    if (this.queuedBytes > CHUNK_BYTES && this.unsentBytes === 0) this.flush();
    if (this.backlogBytes - this.queuedAnswerBytes - this.unsentAnswerBytes > this.limits.notificationBytes) {
      this.overflow();
    } else if (!this.scheduled && this.unsentBytes === 0 && this.queuedBytes > 0) {
      this.scheduled = true;
      if (scheduledOutboxes.length === 0) queueMicrotask(flushAll);
      scheduledOutboxes.push(this);
    }
  }
}

function sizeOf(message: QueuedMessage): number {
  return 'notification' in message ? message.notification.byteLength : message.bytes;
}
