/**
 * The send queue of one WebSocket. The library gets little more than the system accepts at once, so a slow client's
 * backlog stays here, where clients share notifications and closing drops them.
 */
import type { LargeAnswer } from '../../gateway/large-answer.ts';
import type { ClientBudget } from '../../lib/byte-budget.ts';
import { reportFailure } from '../../lib/guard.ts';
import type { Notification } from '../../streams/subscription.ts';
import type { WebSocket } from '../uws.ts';

/** Messages are batched up to this size. After each batch, check whether the system accepted it. */
const BATCH_BYTES = 64 * 1024;

export interface OutboxLimits {
  /** Most bytes of queued notifications. */
  notificationBytes: number;
  /** Memory budget for answers to the client's key. */
  answerBudget: ClientBudget;
}

type ShortMessage = { notification: Notification; id: Uint8Array } | { text: string | Buffer; bytes: number };
/** A message sent in fragments; `isBegun` once the first fragment is out. */
type LargeMessage = { answer: LargeAnswer; isBegun: boolean };
type QueuedMessage = ShortMessage | LargeMessage;

/**
 * - `idle`: nothing is scheduled. Messages in the queue wait for the client to make room (`onDrain`).
 * - `flush-scheduled`: the queue is flushed at the end of the current task, or in the next turn of the event loop.
 * - `fragment-due`: the next fragment of the large answer at the head goes out in the next turn.
 * - `stopped`: the connection is closing; nothing is sent.
 */
type OutboxState = 'idle' | 'flush-scheduled' | 'fragment-due' | 'stopped';

/** The library's result when the system accepted the whole message. */
const SEND_OK = 1;

/** Outboxes to flush at the end of the current task. */
let scheduledOutboxes: Outbox[] = [];

function flushAll(): void {
  const outboxes = scheduledOutboxes;
  scheduledOutboxes = [];
  for (const outbox of outboxes) outbox.flushScheduled();
}

export class Outbox {
  private readonly socket: Pick<
    WebSocket<unknown>,
    'send' | 'cork' | 'getBufferedAmount' | 'sendFirstFragment' | 'sendFragment' | 'sendLastFragment'
  >;
  private readonly limits: OutboxLimits;
  private readonly onOverflow: () => void;
  private readonly onFailure: () => void;
  private state: OutboxState = 'idle';
  private queue: QueuedMessage[] = [];
  private queuedBytes = 0;
  /** Bytes that the library holds because the system did not accept them. The queue waits until they are sent. */
  private unsentBytes = 0;
  /** The share of short answers in `queuedBytes` and `unsentBytes`. */
  private queuedAnswerBytes = 0;
  private unsentAnswerBytes = 0;
  /** The share of large answers in `queuedBytes`. They reserve their own memory. */
  private queuedLargeBytes = 0;
  /** Bytes of the current large answer that the library has, but may not have sent. */
  private fragmentBytes = 0;
  /** Bytes that short answers have reserved in the budget. */
  private reservedBytes = 0;
  private drainCallbacks: (() => void)[] = [];

  /**
   * When the backlog exceeds the limits, stops sending and calls `onOverflow` once. When a message cannot be sent, stops
   * and calls `onFailure`.
   */
  constructor(
    socket: Outbox['socket'],
    limits: OutboxLimits,
    onOverflow: () => void,
    onFailure: () => void = onOverflow,
  ) {
    this.socket = socket;
    this.limits = limits;
    this.onOverflow = onOverflow;
    this.onFailure = onFailure;
  }

  /** Bytes waiting for the client. */
  get backlogBytes(): number {
    return this.queuedBytes + this.unsentBytes;
  }

  /** Bytes that the library itself buffers: pongs that the client has not read. */
  get unsentPongBytes(): number {
    return this.socket.getBufferedAmount() - this.unsentBytes;
  }

  private get waitingNotificationBytes(): number {
    const queued = this.queuedBytes - this.queuedAnswerBytes - this.queuedLargeBytes;
    return this.fragmentBytes > 0 ? queued : queued + this.unsentBytes - this.unsentAnswerBytes;
  }

  notify(notification: Notification, id: Uint8Array): void {
    this.enqueue({ notification, id }, notification.byteLength);
  }

  /**
   * Sends the answer to a call. The inbox answers no further calls during a large backlog, but answers to earlier calls
   * may still exceed the budget; then `fallback` replaces the answer.
   */
  answer(text: string | Buffer, fallback?: () => string): void {
    if (this.state === 'stopped') return;
    const bytes = Buffer.byteLength(text);
    if (!this.limits.answerBudget.reserve(bytes)) {
      return fallback === undefined ? this.overflow() : this.answer(fallback());
    }
    this.reservedBytes += bytes;
    this.queuedAnswerBytes += bytes;
    this.enqueue({ text, bytes }, bytes);
  }

  /** Sends a large answer in fragments, one per turn of the event loop, and releases its memory. */
  answerLarge(answer: LargeAnswer): void {
    if (this.state === 'stopped') return answer.discard();
    this.queuedLargeBytes += answer.left;
    this.enqueue({ answer, isBegun: false }, answer.left);
  }

  /** Runs the callback once the backlog is empty. */
  whenDrained(callback: () => void): void {
    if (this.backlogBytes === 0) callback();
    else if (this.state !== 'stopped') this.drainCallbacks.push(callback);
  }

  /**
   * Call when the library has sent part of its backlog. Sends more in another task: if the system accepts only part of
   * a message of 16 KiB or more during this call, the library never sends the rest.
   */
  onDrain(): void {
    if (this.state === 'stopped') return;
    this.refreshUnsent();
    if (this.unsentBytes > 0 || this.state !== 'idle') return;
    this.state = 'flush-scheduled';
    setImmediate(() => this.flushScheduled());
  }

  /** Drops the backlog and stops sending. */
  stop(): void {
    this.state = 'stopped';
    for (const message of this.queue) if ('answer' in message) message.answer.discard();
    this.queue = [];
    this.queuedBytes = 0;
    this.queuedLargeBytes = 0;
    this.queuedAnswerBytes = 0;
    this.unsentAnswerBytes = 0;
    this.releaseSent();
    this.drainCallbacks = [];
  }

  flushScheduled(): void {
    if (this.state === 'flush-scheduled') this.flushSafely();
  }

  /** Flushes in a task of its own. An error must not keep other outboxes from being flushed. */
  private flushSafely(): void {
    this.state = 'idle';
    try {
      this.flush();
    } catch (error) {
      reportFailure('WebSocket outbox', error);
      this.stop();
      this.onFailure();
    }
  }

  private enqueue(message: QueuedMessage, bytes: number): void {
    if (this.state === 'stopped') return;
    this.queue.push(message);
    this.queuedBytes += bytes;
    if (this.queuedBytes > BATCH_BYTES && this.unsentBytes === 0) this.flush();
    if (this.waitingNotificationBytes > this.limits.notificationBytes) {
      this.overflow();
    } else if (this.state === 'idle' && this.unsentBytes === 0 && this.queuedBytes > 0) {
      this.state = 'flush-scheduled';
      if (scheduledOutboxes.length === 0) queueMicrotask(flushAll);
      scheduledOutboxes.push(this);
    }
  }

  private get maySend(): boolean {
    return this.state !== 'stopped' && this.state !== 'fragment-due' && this.unsentBytes === 0;
  }

  /** Sends as much of the backlog as the system accepts. */
  private flush(): void {
    const { queue } = this;
    let sent = 0;
    while (sent < queue.length && this.maySend) sent = this.sendFrom(sent);
    if (sent === queue.length) queue.length = 0;
    else this.queue = queue.slice(sent);
    this.releaseSent();
    if (this.backlogBytes > 0) return;
    if (this.drainCallbacks.length > 0) for (const callback of this.drainCallbacks.splice(0)) callback();
  }

  /** Hands a batch to the library. Returns the index after the batch. */
  private sendFrom(start: number): number {
    const first = this.queue[start]!;
    if ('answer' in first) return this.sendFragment(first) ? start + 1 : start;
    if (start + 1 === this.queue.length) {
      // The most frequent case, a single message: the result shows whether the system accepted it.
      if (this.sendMessage(first) === SEND_OK) this.unsentAnswerBytes = 0;
      else this.refreshUnsent();
      return start + 1;
    }
    let at = start;
    this.socket.cork(() => {
      for (let bytes = 0; at < this.queue.length && bytes < BATCH_BYTES; at++) {
        const message = this.queue[at]!;
        if ('answer' in message) return;
        this.sendMessage(message);
        bytes += sizeOf(message);
      }
    });
    this.refreshUnsent();
    return at;
  }

  private sendMessage(message: ShortMessage): number {
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

  /** Sends the next fragment of a large answer. Returns true once the client has all of it. */
  private sendFragment(message: LargeMessage): boolean {
    const { answer, isBegun } = message;
    this.queuedBytes -= this.fragmentBytes;
    this.queuedLargeBytes -= this.fragmentBytes;
    answer.advance(this.fragmentBytes);
    this.fragmentBytes = 0;
    if (answer.left === 0) return true;
    const part = answer.peek();
    this.fragmentBytes = part.length;
    message.isBegun = true;
    if (part.length === answer.left) this.socket[isBegun ? 'sendLastFragment' : 'send'](part, false);
    else this.socket[isBegun ? 'sendFragment' : 'sendFirstFragment'](part, false);
    this.refreshUnsent();
    if (this.unsentBytes === 0) this.sendFragmentNextTurn();
    return false;
  }

  private sendFragmentNextTurn(): void {
    this.state = 'fragment-due';
    setImmediate(() => {
      if (this.state === 'fragment-due') this.flushSafely();
    });
  }

  private refreshUnsent(): void {
    this.unsentBytes = this.socket.getBufferedAmount();
    this.unsentAnswerBytes = Math.min(this.unsentAnswerBytes, this.unsentBytes);
  }

  /** Returns the reservation of sent messages to the budget. */
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
}

function sizeOf(message: ShortMessage): number {
  return 'notification' in message ? message.notification.byteLength : message.bytes;
}
