/** Notices each new head of the index as a client does: by the header in every answer. */
import { FatalError } from '../../errors.ts';
import { HttpSocket } from '../load/http-socket.ts';

/** Polling interval, milliseconds: the resolution of the measurement. */
const POLL_MS = 1;

interface PendingBlock {
  number: number;
  resolve: (at: number) => void;
  timer: NodeJS.Timeout;
}

export class HeadWatcher {
  /** Newest block that an answer named. */
  head = -1;
  private readonly socket: HttpSocket;
  private pending: PendingBlock[] = [];
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | null = null;

  /** `request` is any GET of the REST API, as it goes over the wire. */
  constructor(port: number, request: string) {
    this.socket = new HttpSocket(
      port,
      (_status, head) => {
        this.recordHead(Number(/\r\nx-indexed-block: *(\d+)/i.exec(head)?.[1] ?? -1));
        this.timer = setTimeout(() => this.socket.send(request), POLL_MS);
      },
      (error) => {
        this.failure = error;
      },
    );
    this.socket.send(request);
  }

  /** Resolves when the block is indexed, with the time at which that was seen, Unix milliseconds with fractions. */
  waitForBlock(number: number, timeoutMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(this.failure ?? new FatalError(`block ${number} was not indexed within ${timeoutMs} ms`));
      }, timeoutMs);
      this.pending.push({ number, resolve, timer });
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
    const at = performance.timeOrigin + performance.now();
    const reached = this.pending.filter(({ number }) => number <= head);
    this.pending = this.pending.filter(({ number }) => number > head);
    for (const { resolve, timer } of reached) {
      clearTimeout(timer);
      resolve(at);
    }
  }
}
