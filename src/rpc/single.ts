/** The answer to a request of one call: puts the client's own id in front of the payload. */
import type { AnswerSink, CallHandle, CallStatus } from './call.ts';
import { SETTLED_HANDLE } from './call.ts';
import type { RpcSink } from './sink.ts';

/** Short answers are assembled here: each is sent before the next one is assembled. */
const SCRATCH = Buffer.allocUnsafeSlow(512 * 1024);

export class SingleAnswer implements AnswerSink, CallHandle {
  readonly canStream: boolean;
  readonly requiresValidJson = false;
  /** The beginning of the answer up to its payload; null for a notification, which has no answer. */
  private readonly envelope: string | null;
  private readonly sink: RpcSink;
  private readonly settled: (status: CallStatus | null) => void;
  private handle: CallHandle = SETTLED_HANDLE;
  private over = false;

  /**
   * `id` is JSON text, bytes as Latin-1. `settled` is called once, before the sink gets the end of the answer; with null
   * if the answer is not completed.
   */
  constructor(id: string | null, sink: RpcSink, settled: (status: CallStatus | null) => void) {
    this.envelope = id === null ? null : `{"jsonrpc":"2.0","id":${id},`;
    this.sink = sink;
    this.canStream = sink.canStream;
    this.settled = settled;
  }

  /** Starts the call. `run` may answer before it returns. */
  start(run: (sink: AnswerSink) => CallHandle): this {
    this.handle = run(this);
    return this;
  }

  cancel(): void {
    this.settle(null);
    this.handle.cancel();
  }

  resume(): void {
    this.handle.resume();
  }

  send(payload: Buffer, status: CallStatus): void {
    this.settle(status);
    const { envelope, sink } = this;
    if (envelope === null) return sink.send({ status: 204, body: null }, true);
    const bytes = envelope.length + payload.length;
    if (bytes <= SCRATCH.length) {
      SCRATCH.write(envelope, 'latin1');
      payload.copy(SCRATCH, envelope.length);
      sink.send({ status, body: SCRATCH.subarray(0, bytes) }, false);
    } else {
      sink.send({ status, body: Buffer.concat([Buffer.from(envelope, 'latin1'), payload]) }, true);
    }
  }

  begin(): void {
    if (this.envelope === null) return;
    this.sink.begin();
    this.sink.write(Buffer.from(this.envelope, 'latin1'));
  }

  write(piece: Buffer): boolean {
    return this.envelope === null || this.sink.write(piece);
  }

  end(): void {
    this.settle(200);
    if (this.envelope === null) this.sink.send({ status: 204, body: null }, true);
    else this.sink.end();
  }

  abort(): void {
    this.settle(null);
    if (this.envelope === null) this.sink.send({ status: 204, body: null }, true);
    else this.sink.abort();
  }

  private settle(status: CallStatus | null): void {
    if (this.over) return;
    this.over = true;
    this.settled(status);
  }
}
