/** The answer to a request of one call: puts the client's own id in front of the tail. */
import type { CallStatus, Pending, Taker } from './call.ts';
import { SETTLED } from './call.ts';
import type { RpcSink } from './sink.ts';

/** Short answers are assembled here: each is sent before the next one is assembled. */
const SCRATCH = Buffer.allocUnsafeSlow(512 * 1024);

export class SingleAnswer implements Taker, Pending {
  readonly streams: boolean;
  readonly strict = false;
  /** The beginning of the answer up to its tail; null for a notification, which has no answer. */
  private readonly head: string | null;
  private readonly sink: RpcSink;
  private readonly settled: (status: CallStatus | null) => void;
  private pending: Pending = SETTLED;
  private over = false;

  /**
   * `id` is JSON text, bytes as Latin-1. `settled` is called once, before the sink gets the end of the answer; with null
   * if the answer is not completed.
   */
  constructor(id: string | null, sink: RpcSink, settled: (status: CallStatus | null) => void) {
    this.head = id === null ? null : `{"jsonrpc":"2.0","id":${id},`;
    this.sink = sink;
    this.streams = sink.streams;
    this.settled = settled;
  }

  /** Starts the call. `run` may answer before it returns. */
  start(run: (taker: Taker) => Pending): this {
    this.pending = run(this);
    return this;
  }

  abandon(): void {
    this.settle(null);
    this.pending.abandon();
  }

  resume(): void {
    this.pending.resume();
  }

  take(tail: Buffer, status: CallStatus): void {
    this.settle(status);
    const { head, sink } = this;
    if (head === null) return sink.whole({ status: 204, body: null }, true);
    const bytes = head.length + tail.length;
    if (bytes <= SCRATCH.length) {
      SCRATCH.write(head, 'latin1');
      tail.copy(SCRATCH, head.length);
      sink.whole({ status, body: SCRATCH.subarray(0, bytes) }, false);
    } else {
      sink.whole({ status, body: Buffer.concat([Buffer.from(head, 'latin1'), tail]) }, true);
    }
  }

  begin(): void {
    if (this.head === null) return;
    this.sink.begin();
    this.sink.more(Buffer.from(this.head, 'latin1'));
  }

  more(piece: Buffer): boolean {
    return this.head === null || this.sink.more(piece);
  }

  end(): void {
    this.settle(200);
    if (this.head === null) this.sink.whole({ status: 204, body: null }, true);
    else this.sink.end();
  }

  cut(): void {
    this.settle(null);
    if (this.head === null) this.sink.whole({ status: 204, body: null }, true);
    else this.sink.cut();
  }

  private settle(status: CallStatus | null): void {
    if (this.over) return;
    this.over = true;
    this.settled(status);
  }
}
