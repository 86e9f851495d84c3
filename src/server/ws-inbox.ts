/**
 * Messages of one WebSocket client on their way to being answered. Some are answered at a time, in no order; those
 * behind them wait, as they would at a node, also while the client has not taken the answers that it has.
 */

/** Messages that are answered at the same time. */
const AT_ONCE = 32;

/** Bytes on their way to the client above which nothing more is answered until it has taken all of them. */
const PAUSE_BYTES = 2 ** 20;

/** Messages that wait. */
const MAX_WAITING = 10_000;

export interface InboxOptions {
  /** What is on its way to the client, and word when it has it all. */
  outlet: { readonly backlog: number; whenDrained(callback: () => void): void };
  /** Answers a message. Never rejects. */
  answer: (message: Buffer) => Promise<void>;
  /** Bytes of messages that wait. */
  maxBytes: number;
  /** Called when more wait; nothing is answered any more then. */
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

  /** Takes a message in. Its memory must stay as it is. */
  take(message: Buffer): void {
    if (this.stopped) return;
    this.waiting.push(message);
    this.waitingBytes += message.length;
    this.goOn();
    if (this.waiting.length <= MAX_WAITING && this.waitingBytes <= this.options.maxBytes) return;
    this.stop();
    this.options.onOverflow();
  }

  /** Drops what waits; nothing is answered from now on. */
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
