/**
 * The send queue of one WebSocket. The library gets little more than the system accepts at once, so a slow client's
 * backlog stays here, where clients share notifications and closing drops them.
 */
import type { LargeAnswer } from '../../gateway/large-answer.ts';
import type { ClientBudget } from '../../lib/byte-budget.ts';
import { reportFailure } from '../../lib/guard.ts';
import type { Notification } from '../../streams/subscription.ts';
import type { WebSocket } from '../uws.ts';
import { Backlog } from './backlog.ts';

/** Messages are batched up to this size. After each batch, check whether the system accepted it. */
const BATCH_BYTES = 64 * 1024;

export interface OutboxLimits {
  /** Most bytes of queued notifications. */
  notificationBytes: number;
  /** Memory budget for answers to the client's key. */
  answerBudget: ClientBudget;
}

type ShortMessage = { notification: Notification; id: Uint8Array } | { text: string | Buffer; bytes: number };
/** A message sent in fragments. `fragmentBytes`: of the current fragment; 0 before the first. */
type LargeMessage = { answer: LargeAnswer; fragmentBytes: number };
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
  /** While the library holds bytes that the system did not accept, the queue waits. */
  private readonly backlog: Backlog;
  private drainCallbacks: (() => void)[] = [];

  /**
   * When the backlog exceeds the limits, stops sending and calls `onOverflow` once. When a message cannot be sent,
   * stops and calls `onFailure`.
   */
  constructor(
    socket: Outbox['socket'],
    limits: OutboxLimits,
    onOverflow: () => void,
    onFailure: () => void = onOverflow,
  ) {
    this.socket = socket;
    this.limits = limits;
    this.backlog = new Backlog(limits.answerBudget);
    this.onOverflow = onOverflow;
    this.onFailure = onFailure;
  }

  /** Bytes waiting for the client. */
  get backlogBytes(): number {
    return this.backlog.bytes;
  }

  /** Bytes that the library itself buffers: pongs that the client has not read. */
  get unsentPongBytes(): number {
    return this.socket.getBufferedAmount() - this.backlog.unsentBytes;
  }

  notify(notification: Notification, id: Uint8Array): void {
    if (this.state === 'stopped') return;
    this.backlog.enqueue('notification', notification.byteLength);
    this.enqueue({ notification, id });
  }

  /**
   * Sends the answer to a call. The inbox answers no further calls during a large backlog, but answers to earlier calls
   * may still exceed the budget; then `fallback` replaces the answer.
   */
  answer(text: string | Buffer, fallback?: () => string): void {
    if (this.state === 'stopped') return;
    const bytes = Buffer.byteLength(text);
    if (this.backlog.enqueue('answer', bytes)) this.enqueue({ text, bytes });
    else if (fallback === undefined) this.overflow();
    else this.answer(fallback());
  }

  /** Sends a large answer in fragments, one per turn of the event loop, and releases its memory. */
  answerLarge(answer: LargeAnswer): void {
    if (this.state === 'stopped') return answer.discard();
    this.backlog.enqueue('large', answer.left);
    this.enqueue({ answer, fragmentBytes: 0 });
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
    if (this.backlog.unsentBytes > 0 || this.state !== 'idle') return;
    this.state = 'flush-scheduled';
    setImmediate(() => this.flushScheduled());
  }

  /** Drops the backlog and stops sending. */
  stop(): void {
    this.state = 'stopped';
    for (const message of this.queue) if ('answer' in message) message.answer.discard();
    this.queue = [];
    this.backlog.clear();
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

  private enqueue(message: QueuedMessage): void {
    const { queue, backlog } = this;
    queue.push(message);
    if (backlog.queuedBytes > BATCH_BYTES && backlog.unsentBytes === 0) this.flush();
    const first = this.queue[0];
    const isFragmentUnsent = first !== undefined && 'answer' in first && first.fragmentBytes > 0;
    if (backlog.notificationBytes(isFragmentUnsent) > this.limits.notificationBytes) {
      this.overflow();
    } else if (this.state === 'idle' && backlog.unsentBytes === 0 && backlog.queuedBytes > 0) {
      this.state = 'flush-scheduled';
      if (scheduledOutboxes.length === 0) queueMicrotask(flushAll);
      scheduledOutboxes.push(this);
    }
  }

  private get maySend(): boolean {
    return this.state !== 'stopped' && this.state !== 'fragment-due' && this.backlog.unsentBytes === 0;
  }

  /** Sends as much of the backlog as the system accepts. */
  private flush(): void {
    const { queue } = this;
    let sent = 0;
    while (sent < queue.length && this.maySend) sent = this.sendFrom(sent);
    if (sent === queue.length) queue.length = 0;
    else this.queue = queue.slice(sent);
    if (this.backlogBytes > 0) return;
    if (this.drainCallbacks.length > 0) for (const callback of this.drainCallbacks.splice(0)) callback();
  }

  /** Hands a batch to the library. Returns the index after the batch. */
  private sendFrom(start: number): number {
    const first = this.queue[start]!;
    if ('answer' in first) return this.sendFragment(first) ? start + 1 : start;
    if (start + 1 === this.queue.length) {
      // The most frequent case, a single message: the result shows whether the system accepted it.
      if (this.sendMessage(first) === SEND_OK) this.backlog.handedOver(0);
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
    this.backlog.dequeue('text' in message ? 'answer' : 'notification', sizeOf(message));
    return this.socket.send(
      'notification' in message ? message.notification.messageFor(message.id) : message.text,
      false,
    );
  }

  /** Sends the next fragment of a large answer. Returns true once the client has all of it. */
  private sendFragment(message: LargeMessage): boolean {
    const { answer, fragmentBytes } = message;
    const isBegun = fragmentBytes > 0;
    this.backlog.fragmentTaken(fragmentBytes);
    answer.advance(fragmentBytes);
    if (answer.left === 0) return true;
    const part = answer.peek();
    message.fragmentBytes = part.length;
    if (part.length === answer.left) this.socket[isBegun ? 'sendLastFragment' : 'send'](part, false);
    else this.socket[isBegun ? 'sendFragment' : 'sendFirstFragment'](part, false);
    this.refreshUnsent();
    if (this.backlog.unsentBytes === 0) this.sendFragmentNextTurn();
    return false;
  }

  private sendFragmentNextTurn(): void {
    this.state = 'fragment-due';
    setImmediate(() => {
      if (this.state === 'fragment-due') this.flushSafely();
    });
  }

  private refreshUnsent(): void {
    this.backlog.handedOver(this.socket.getBufferedAmount());
  }

  private overflow(): void {
    this.stop();
    this.onOverflow();
  }
}

function sizeOf(message: ShortMessage): number {
  return 'notification' in message ? message.notification.byteLength : message.bytes;
}
