/**
 * Incoming messages of one WebSocket client. Handles a limited number at a time; they may finish in any order, as on a
 * node. Later messages wait, and so do messages of a client that has not read its answers.
 */

import { reportFailure } from '../../lib/guard.ts';

/** Messages handled at the same time. */
const MAX_IN_FLIGHT = 32;

/** Above this backlog of answers, bytes, no message is handled until the client has read all answers. */
const PAUSE_BYTES = 2 ** 20;

/** Most queued messages. */
const MAX_QUEUED = 10_000;

interface InboxOptions {
  /** The client's backlog, and a hook for when it is drained. */
  connection: { readonly backlogBytes: number; whenDrained(callback: () => void): void };
  /** Answers a message, which arrived at this time (performance.now()). */
  handle: (message: Buffer, arrivedAt: number) => Promise<void>;
  /** Called when a message cannot be handled. */
  onFailure: () => void;
  /** Most bytes of queued messages, and of messages handled at the same time unless there is only one. */
  maxBytes: number;
  /** Called once when the queue exceeds its limits. The inbox is then stopped. */
  onOverflow: () => void;
}

export class Inbox {
  private readonly options: InboxOptions;
  private queue: { message: Buffer; arrivedAt: number }[] = [];
  private queuedBytes = 0;
  private inFlight = 0;
  private inFlightBytes = 0;
  /** `paused`: the client must read its answers first. `stopped` is final. */
  private state: 'open' | 'paused' | 'stopped' = 'open';

  constructor(options: InboxOptions) {
    this.options = options;
  }

  /** Accepts a message. The caller must not change its memory. */
  enqueue(message: Buffer): void {
    if (this.state === 'stopped') return;
    this.queue.push({ message, arrivedAt: performance.now() });
    this.queuedBytes += message.length;
    this.drainQueue();
    if (this.queue.length <= MAX_QUEUED && this.queuedBytes <= this.options.maxBytes) return;
    this.stop();
    this.options.onOverflow();
  }

  /** Drops the queued messages and handles no more. */
  stop(): void {
    this.state = 'stopped';
    this.queue = [];
    this.queuedBytes = 0;
  }

  private drainQueue(): void {
    while (this.inFlight < MAX_IN_FLIGHT) {
      this.pauseIfBehind();
      const next = this.state === 'open' ? this.queue[0] : undefined;
      if (next === undefined || !this.hasRoomFor(next.message)) return;
      this.queue.shift();
      const { message, arrivedAt } = next;
      const { length } = message;
      this.queuedBytes -= length;
      this.inFlight++;
      this.inFlightBytes += length;
      const onHandled = (): void => {
        this.inFlight--;
        this.inFlightBytes -= length;
        this.drainQueue();
      };
      const { handle, onFailure } = this.options;
      handle(message, arrivedAt)
        .then(onHandled)
        .catch((error: unknown) => {
          reportFailure('messages of a WebSocket', error);
          onFailure();
        });
    }
  }

  private hasRoomFor({ length }: Buffer): boolean {
    return this.inFlight === 0 || this.inFlightBytes + length <= this.options.maxBytes;
  }

  private pauseIfBehind(): void {
    const { connection } = this.options;
    if (this.state !== 'open' || connection.backlogBytes <= PAUSE_BYTES) return;
    this.state = 'paused';
    connection.whenDrained(() => {
      if (this.state !== 'paused') return;
      this.state = 'open';
      this.drainQueue();
    });
  }
}
