/**
 * Incoming messages of one WebSocket client. A limited number are answered at a time, in any order; later ones wait, as
 * they would at a node, also while the client has not read the answers it was sent.
 */

/** Messages that are answered at the same time. */
const MAX_IN_FLIGHT = 32;

/** Backlog in bytes above which no message is answered until the client has read all of it. */
const PAUSE_BYTES = 2 ** 20;

/** Most messages that may wait. */
const MAX_QUEUED = 10_000;

export interface InboxOptions {
  /** The client's backlog, and a callback when it is drained. */
  connection: { readonly backlogBytes: number; whenDrained(callback: () => void): void };
  /** Answers a message. Never rejects. */
  handle: (message: Buffer) => Promise<void>;
  /** Most bytes of messages that may wait. */
  maxBytes: number;
  /** Called when more wait; nothing is answered after that. */
  onOverflow: () => void;
}

export class Inbox {
  private readonly options: InboxOptions;
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  private inFlight = 0;
  private paused = false;
  private stopped = false;

  constructor(options: InboxOptions) {
    this.options = options;
  }

  /** Accepts a message. Its memory must not change. */
  enqueue(message: Buffer): void {
    if (this.stopped) return;
    this.queue.push(message);
    this.queuedBytes += message.length;
    this.drainQueue();
    if (this.queue.length <= MAX_QUEUED && this.queuedBytes <= this.options.maxBytes) return;
    this.stop();
    this.options.onOverflow();
  }

  /** Drops the waiting messages; nothing is answered from now on. */
  stop(): void {
    this.stopped = true;
    this.queue = [];
    this.queuedBytes = 0;
  }

  private drainQueue(): void {
    while (this.inFlight < MAX_IN_FLIGHT && !this.pauseIfBehind()) {
      const message = this.queue.shift();
      if (message === undefined) return;
      this.queuedBytes -= message.length;
      this.inFlight++;
      void this.options.handle(message).then(() => {
        this.inFlight--;
        this.drainQueue();
      });
    }
  }

  private pauseIfBehind(): boolean {
    const { connection } = this.options;
    if (!this.paused && connection.backlogBytes > PAUSE_BYTES) {
      this.paused = true;
      connection.whenDrained(() => {
        this.paused = false;
        this.drainQueue();
      });
    }
    return this.paused;
  }
}
