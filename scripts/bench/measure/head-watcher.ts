/** Notices each new head of the index like a client: by the header in every answer. */
import { FatalError } from '../../../src/lib/errors.ts';
import { HttpSocket } from '../load/http-socket.ts';

/** Polling interval, milliseconds: the resolution of the measurement. */
const POLL_MS = 1;

interface PendingBlock {
  number: number;
  resolve: (at: number) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

export class HeadWatcher {
  /** Newest block named in an answer. */
  head = -1;
  private readonly socket: HttpSocket;
  private readonly pending = new Set<PendingBlock>();
  /** When `head` was seen, Unix milliseconds with fractions. */
  private headSeenAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | null = null;

  /** `request` is any GET of the REST API, as sent over the wire. */
  constructor(port: number, request: string) {
    this.socket = new HttpSocket(
      port,
      (_status, head) => {
        this.recordHead(Number(/\r\nx-indexed-block: *(\d+)/i.exec(head)?.[1] ?? -1));
        this.timer = setTimeout(() => this.socket.send(request), POLL_MS);
      },
      (error) => this.fail(error),
    );
    this.socket.send(request);
  }

  /**
   * Resolves when the block is indexed, with the time of the observation, Unix milliseconds with fractions. Rejects
   * after the time limit, and as soon as the connection is lost.
   */
  waitForBlock(number: number, timeoutMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) return reject(this.failure);
      if (number <= this.head) return resolve(this.headSeenAt);
      const timer = setTimeout(() => {
        this.pending.delete(block);
        reject(new FatalError(`block ${number} was not indexed within ${timeoutMs} ms`));
      }, timeoutMs);
      const block = { number, resolve, reject, timer };
      this.pending.add(block);
    });
  }

  close(): void {
    clearTimeout(this.timer);
    this.socket.close();
    for (const { timer } of this.pending) clearTimeout(timer);
  }

  private recordHead(head: number): void {
    if (head === this.head) return;
    this.head = head;
    this.headSeenAt = performance.timeOrigin + performance.now();
    for (const block of this.pending) {
      if (block.number > head) continue;
      this.pending.delete(block);
      clearTimeout(block.timer);
      block.resolve(this.headSeenAt);
    }
  }

  private fail(cause: Error): void {
    this.failure = new FatalError(`the daemon cannot be asked for its head: ${cause.message}`, { cause });
    for (const { reject, timer } of this.pending) {
      clearTimeout(timer);
      reject(this.failure);
    }
    this.pending.clear();
  }
}
