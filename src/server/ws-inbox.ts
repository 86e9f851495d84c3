/**
 * Incoming messages of one WebSocket client. A limited number are answered at a time, in any order; later ones wait, as
 * they would at a node, also while the client has not read the answers it was sent.
 */

/** Messages that are answered at the same time. */
const AT_ONCE = 32;

/** Backlog in bytes above which no message is answered until the client has read all of it. */
const PAUSE_BYTES = 2 ** 20;

/** Most messages that may wait. */
const MAX_WAITING = 10_000;

export interface InboxOptions {
  /** The client's backlog, and a callback when it is drained. */
  outlet: { readonly backlog: number; whenDrained(callback: () => void): void };
  /** Answers a message. Never rejects. */
  answer: (message: Buffer) => Promise<void>;
  /** Most bytes of messages that may wait. */
  maxBytes: number;
  /** Called when more wait; nothing is answered after that. */
  onOverflow: () => void;
}

export class Inbox {
  private readonly options: InboxOptions;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private running = 0;
  private paused = false;
  private stopped = false;

  constructor(options: InboxOptions) {
    this.options = options;
  }

  /** Accepts a message. Its memory must not change. */
  take(message: Buffer): void {
    if (this.stopped) return;
    this.waiting.push(message);
    this.waitingBytes += message.length;
    this.goOn();
    if (this.waiting.length <= MAX_WAITING && this.waitingBytes <= this.options.maxBytes) return;
    this.stop();
    this.options.onOverflow();
  }

  /** Drops the waiting messages; nothing is answered from now on. */
  stop(): void {
    this.stopped = true;
    this.waiting = [];
    this.waitingBytes = 0;
  }

  private goOn(): void {
    while (this.running < AT_ONCE && !this.mustPause()) {
      const message = this.waiting.shift();
      if (message === undefined) return;
      this.waitingBytes -= message.length;
      this.running++;
      void this.options.answer(message).then(() => {
        this.running--;
        this.goOn();
      });
    }
  }

  private mustPause(): boolean {
    const { outlet } = this.options;
    if (!this.paused && outlet.backlog > PAUSE_BYTES) {
      this.paused = true;
      outlet.whenDrained(() => {
        this.paused = false;
        this.goOn();
      });
    }
    return this.paused;
  }
}
