/** The answer to a request of one call: the client's own id in front of the response tail. */
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { ByteSource } from '../lib/byte-stream.ts';
import { type CallConsumer, type CallStatus, type RpcConsumer, SETTLED } from './call.ts';
import { errorJson, NO_ROOM } from './errors.ts';
import { LargeAnswer, MIN_LARGE_BYTES } from './large-answer.ts';

/** Short answers are assembled here. Each is sent before the next is assembled. */
const SCRATCH = Buffer.allocUnsafeSlow(MIN_LARGE_BYTES);

/** The offset of the id in an envelope, which ends with a comma. */
const ID_AT = '{"jsonrpc":"2.0","id":'.length;

export class SingleAnswer implements CallConsumer, ByteSource {
  readonly canStream: boolean;
  readonly requiresValidJson = false;
  /** The start of the answer up to its response tail; null for a notification, which has no answer. */
  private readonly envelope: string | null;
  private readonly client: number;
  private readonly budget: ByteBudget;
  private readonly consumer: RpcConsumer;
  private readonly settled: (status: CallStatus | null) => void;
  private source: ByteSource = SETTLED;
  private over = false;

  /**
   * `id` is JSON text, bytes as Latin-1. A large answer is charged to the budget of `client`. `settled` is called once,
   * before the consumer gets the end of the answer, or with null if the answer never completes.
   */
  constructor(
    id: string | null,
    { client, budget }: { client: number; budget: ByteBudget },
    consumer: RpcConsumer,
    settled: (status: CallStatus | null) => void,
  ) {
    this.client = client;
    this.budget = budget;
    this.envelope = id === null ? null : `{"jsonrpc":"2.0","id":${id},`;
    this.consumer = consumer;
    this.canStream = consumer.canStream;
    this.settled = settled;
  }

  /** Starts the call. `run` may answer before it returns. */
  start(run: (consumer: CallConsumer) => ByteSource): this {
    this.source = run(this);
    return this;
  }

  cancel(): void {
    this.settle(null);
    this.source.cancel();
  }

  resume(): void {
    this.source.resume();
  }

  send(tail: Buffer | LargeAnswer, status: CallStatus, mayRetain: boolean, retryAfter?: number): void {
    this.settle(status);
    const { envelope, consumer } = this;
    if (tail instanceof LargeAnswer) return this.sendLarge(tail);
    if (envelope === null) return consumer.send(null, 204, true);
    const bytes = envelope.length + tail.length;
    if (bytes <= SCRATCH.length) {
      SCRATCH.write(envelope, 'latin1');
      tail.copy(SCRATCH, envelope.length);
      consumer.send(SCRATCH.subarray(0, bytes), status, false, retryAfter);
    } else {
      const pieces = [Buffer.from(envelope, 'latin1'), mayRetain ? tail : Buffer.from(tail)];
      const large = LargeAnswer.of(pieces, this.budget.forClient(this.client));
      if (large === null) this.refuse();
      else consumer.send(large, status, true, retryAfter);
    }
  }

  begin(): void {
    if (this.envelope === null) return;
    this.consumer.begin();
    this.consumer.write(Buffer.from(this.envelope, 'latin1'));
  }

  write(piece: Buffer): boolean {
    return this.envelope === null || this.consumer.write(piece);
  }

  end(last: Buffer): void {
    this.settle(200);
    if (this.envelope === null) this.consumer.send(null, 204, true);
    else this.consumer.end(last);
  }

  abort(): void {
    this.settle(null);
    if (this.envelope === null) this.consumer.send(null, 204, true);
    else this.consumer.abort();
  }

  private sendLarge(tail: LargeAnswer): void {
    const { envelope, consumer } = this;
    if (envelope !== null && tail.addFirst(Buffer.from(envelope, 'latin1')))
      return consumer.send(tail, 200, true);
    tail.discard();
    if (envelope === null) consumer.send(null, 204, true);
    else this.refuse();
  }

  /** The client's memory budget has no room for the answer. */
  private refuse(): void {
    const { envelope, consumer } = this;
    const id = envelope === null || envelope.length > MIN_LARGE_BYTES ? 'null' : envelope.slice(ID_AT, -1);
    consumer.send(Buffer.from(errorJson(id, NO_ROOM), 'latin1'), 200, true);
  }

  private settle(status: CallStatus | null): void {
    if (this.over) return;
    this.over = true;
    this.settled(status);
  }
}
