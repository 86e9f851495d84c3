/** The answer to one JSON-RPC request over HTTP: whole, or in chunks at the client's pace. */
import type { KeyRecord } from '../access/keys.ts';
import type { AdmissionResult, Limiter } from '../access/limiter.ts';
import type { CallHandle } from '../rpc/call.ts';
import { errorJson, limitExceededAnswer, type Refusal } from '../rpc/errors.ts';
import type { RpcCaller, RpcHandler } from '../rpc/handler.ts';
import type { RpcAnswer, RpcSink } from '../rpc/sink.ts';
import { jsonAnswer, rateLimitHeaders, retryAfterHeader } from './answer.ts';
import type { ChunkWriter, DeferredReply } from './reply.ts';

/** Answers of this size and more are written in chunks: the library would copy what a slow client has not read. */
const MIN_STREAMED_BYTES = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Bodies up to this size are read even if the key has nothing left, so that the refusal has the id of the call. */
const MAX_ALWAYS_READ_BYTES = 64 * 1024;

export class HttpRpcReply implements RpcSink, RpcCaller {
  readonly canStream = true;
  readonly key: number;
  private readonly reply: DeferredReply;
  private readonly limiter: Limiter;
  private readonly record: KeyRecord;
  /** Header lines. */
  private headers: string;
  private callHandle: CallHandle | null = null;
  private chunkWriter: ChunkWriter | null = null;
  /** The part of a large answer that is not yet written. */
  private unwritten: Buffer | null = null;

  constructor(reply: DeferredReply, limiter: Limiter, record: KeyRecord, headers: string) {
    this.reply = reply;
    this.limiter = limiter;
    this.record = record;
    this.headers = headers;
    this.key = record.id;
  }

  /** Answers a request body. A large one of a key that has nothing left is not read. */
  serve(rpc: RpcHandler, body: Buffer): void {
    const refused = body.length > MAX_ALWAYS_READ_BYTES ? this.limiter.refusal(this.record) : null;
    if (refused !== null) {
      this.addRateLimitHeaders(refused);
      return this.send(
        limitExceededAnswer(refused, (error) => errorJson('null', error)),
        true,
      );
    }
    this.callHandle = rpc.serve(body.toString('latin1'), this, this);
  }

  /** The client has left. */
  cancel(): void {
    this.unwritten = null;
    this.callHandle?.cancel();
  }

  charge(calls: number): Refusal | null {
    const admission = this.limiter.take(this.record, calls);
    this.addRateLimitHeaders(admission);
    return admission.ok ? null : admission;
  }

  send({ status, body, retryAfter }: RpcAnswer, mayRetain: boolean): void {
    if (body === null) {
      return this.reply.send({ status, headers: this.headers, body, cache: 'no-store' });
    }
    if (mayRetain && Buffer.isBuffer(body) && body.length >= MIN_STREAMED_BYTES && status === 200) {
      this.begin();
      this.unwritten = body;
      return this.writeUnwritten();
    }
    const headers = retryAfter === undefined ? this.headers : this.headers + retryAfterHeader(retryAfter);
    this.reply.send(jsonAnswer(status, body, headers));
  }

  begin(): void {
    const { status, headers, cache } = jsonAnswer(200, '', this.headers);
    this.chunkWriter = this.reply.beginStream({ status, headers, cache }, () => this.onDrain());
  }

  write(chunk: Buffer): boolean {
    return this.chunkWriter?.write(chunk) ?? true;
  }

  end(): void {
    this.chunkWriter?.end();
  }

  abort(): void {
    this.chunkWriter?.abort();
  }

  /** What the key has left goes into the headers. */
  private addRateLimitHeaders(admission: AdmissionResult): void {
    this.headers += rateLimitHeaders(admission);
  }

  private onDrain(): void {
    if (this.unwritten !== null) this.writeUnwritten();
    else this.callHandle?.resume();
  }

  private writeUnwritten(): void {
    while (this.unwritten !== null) {
      const chunk = this.unwritten.subarray(0, CHUNK_BYTES);
      this.unwritten = this.unwritten.length > CHUNK_BYTES ? this.unwritten.subarray(CHUNK_BYTES) : null;
      if (!this.write(chunk) && this.unwritten !== null) return;
    }
    this.end();
  }
}
