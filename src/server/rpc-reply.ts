/** The answer to one JSON-RPC request over HTTP: whole, or in pieces at the client's pace. */
import type { KeyRecord } from '../access/keys.ts';
import type { Limiter, Verdict } from '../access/limiter.ts';
import type { Pending } from '../rpc/call.ts';
import { overLimitAnswer, type Refusal } from '../rpc/errors.ts';
import type { RpcCaller, RpcHandler } from '../rpc/handler.ts';
import type { RpcAnswer, RpcSink } from '../rpc/sink.ts';
import { allowanceLines, jsonAnswer, retryAfterLine } from './answer.ts';
import type { LateReply, Pieces } from './reply.ts';

/** Answers of at least this size are written in pieces, since the library would copy what a slow client has not read. */
const LARGE_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

/** Bodies up to this size are read also for a key that has nothing left: a refusal with the id of the call can be told apart. */
const READ_ANYWAY_BYTES = 64 * 1024;

export class RpcReply implements RpcSink, RpcCaller {
  readonly streams = true;
  readonly key: number;
  private readonly reply: LateReply;
  private readonly limiter: Limiter;
  private readonly record: KeyRecord;
  /** Header lines. */
  private lines: string;
  private pending: Pending | null = null;
  private pieces: Pieces | null = null;
  /** The part of a large answer that is not yet written. */
  private rest: Buffer | null = null;

  constructor(reply: LateReply, limiter: Limiter, record: KeyRecord, lines: string) {
    this.reply = reply;
    this.limiter = limiter;
    this.record = record;
    this.lines = lines;
    this.key = record.id;
  }

  /** Answers a request body. A large one of a key that has nothing left is not read. */
  serve(rpc: RpcHandler, body: Buffer): void {
    const refused = body.length > READ_ANYWAY_BYTES ? this.limiter.refusal(this.record) : null;
    if (refused !== null) {
      this.tell(refused);
      return this.whole(overLimitAnswer('null', refused), true);
    }
    this.pending = rpc.serve(body.toString('latin1'), this, this);
  }

  /** The client has left. */
  abandon(): void {
    this.rest = null;
    this.pending?.abandon();
  }

  charge(calls: number): Refusal | null {
    const verdict = this.limiter.take(this.record, calls);
    this.tell(verdict);
    return verdict.ok ? null : verdict;
  }

  whole({ status, body, retryAfter }: RpcAnswer, kept: boolean): void {
    if (body === null) {
      return this.reply.send({ status, lines: this.lines, body, cache: 'no-store' });
    }
    if (kept && Buffer.isBuffer(body) && body.length >= LARGE_BYTES && status === 200) {
      this.begin();
      this.rest = body;
      return this.writeRest();
    }
    const lines = retryAfter === undefined ? this.lines : this.lines + retryAfterLine(retryAfter);
    this.reply.send(jsonAnswer(status, body, lines));
  }

  begin(): void {
    const { status, lines, cache } = jsonAnswer(200, '', this.lines);
    this.pieces = this.reply.begin({ status, lines, cache }, () => this.caughtUp());
  }

  more(piece: Buffer): boolean {
    return this.pieces?.write(piece) ?? true;
  }

  end(): void {
    this.pieces?.end();
  }

  cut(): void {
    this.pieces?.cut();
  }

  /** What the key has left goes into the headers. */
  private tell(verdict: Verdict): void {
    this.lines += allowanceLines(verdict);
  }

  private caughtUp(): void {
    if (this.rest !== null) this.writeRest();
    else this.pending?.resume();
  }

  private writeRest(): void {
    while (this.rest !== null) {
      const piece = this.rest.subarray(0, PIECE_BYTES);
      this.rest = this.rest.length > PIECE_BYTES ? this.rest.subarray(PIECE_BYTES) : null;
      if (!this.more(piece) && this.rest !== null) return;
    }
    this.end();
  }
}
