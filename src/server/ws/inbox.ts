/**
 * Incoming messages of one WebSocket client. A limited number are handled at a time and may finish in any order, as on a
 * node. Later messages wait, also while the client has not read its answers.
 */

/** Messages handled at the same time. */
const MAX_IN_FLIGHT = 32;

/** Backlog of answers in bytes above which no message is handled until the client has read all of it. */
const PAUSE_BYTES = 2 ** 20;

/** Most messages that may wait. */
const MAX_QUEUED = 10_000;

interface InboxOptions {
  /** The client's backlog, and a callback when it is drained. */
  connection: { readonly backlogBytes: number; whenDrained(callback: () => void): void };
  /** Answers a message. Never rejects. */
  handle: (message: Buffer) => Promise<void>;
  /** Most bytes of messages that may wait. */
  maxBytes: number;
  /** Called once when more wait; the inbox is then stopped. */
  onOverflow: () => void;
}

export class Inbox {
  private readonly options: InboxOptions;
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  private inFlight = 0;
  /** `paused`: the client has to read its answers first. `stopped`: for good. */
  private state: 'open' | 'paused' | 'stopped' = 'open';

  constructor(options: InboxOptions) {
    this.options = options;
  }

  /** Accepts a message. Its memory must not change. */
  enqueue(message: Buffer): void {
    if (this.state === 'stopped') return;
    this.queue.push(message);
    this.queuedBytes += message.length;
    this.drainQueue();
    if (this.queue.length <= MAX_QUEUED && this.queuedBytes <= this.options.maxBytes) return;
    this.stop();
    this.options.onOverflow();
  }

  /** Drops the waiting messages and handles no more. */
  stop(): void {
    this.state = 'stopped';
    this.queue = [];
    this.queuedBytes = 0;
  }

  private drainQueue(): void {
    while (this.inFlight < MAX_IN_FLIGHT) {
      this.pauseIfBehind();
      const message = this.state === 'open' ? this.queue.shift() : undefined;
      if (message === undefined) return;
      this.queuedBytes -= message.length;
      this.inFlight++;
      void this.options.handle(message).then(() => {
        this.inFlight--;
        this.drainQueue();
      });
    }
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
