/** One call to the node for one or more takers: gathers the answer, or streams it as it arrives. */
import { UpstreamError } from '../errors.ts';
import type { Account, ByteBudget } from '../lib/byte-budget.ts';
import type { AnswerHead, AnswerListener, Exchange, WireTransport } from '../upstream/wire/transport.ts';
import type { CircuitBreaker } from './breaker.ts';
import type { Call, Pending, Taker } from './call.ts';
import { failureAnswer } from './errors.ts';
import { kindOf } from './method-kind.ts';
import { checkTail, findTail, glanceAtTail, isResult, readTail, upstreamRequest } from './tail.ts';
import { TailStream } from './tail-stream.ts';

/** Statuses of a proxy whose node did not answer: a retry may succeed. */
const GATEWAY_STATUSES = new Set([502, 503, 504]);

/** 4xx statuses that are about the node or the way to it; all other 4xx are about the single request. */
const REFUSAL_STATUSES = new Set([401, 403, 407, 408, 429]);

/** Most bytes of a gathered answer: more than any node sends at its default limits. */
const MAX_GATHERED = 64 * 1024 * 1024;

export interface NodeCallDeps {
  transport: Pick<WireTransport, 'post'>;
  breaker: CircuitBreaker;
  budget: ByteBudget;
  /** Called for each failed try; `ofNode` says whether the failure is about the node rather than the request. */
  onFailure(call: Call, error: UpstreamError, ofNode: boolean): void;
}

export interface NodeCallOptions {
  /** Up to so many bytes the answer is gathered even if its only taker accepts pieces, because it may be cached. */
  gatherBytes: number;
  /**
   * Called with the complete answer before the takers get it; its memory may be reused afterwards. Throws UpstreamError
   * `malformed` when it is not an answer.
   */
  onTail(tail: Buffer): void;
  /** No more takers may join. Called once, before any taker is served. */
  onFull(): void;
  /** Gathering the answer for all takers would take too much memory: these need calls of their own. */
  onTooMany(waiting: readonly Waiting[]): void;
}

/** A taker waiting for a call, which may be moved to another call. */
export class Waiting implements Pending {
  readonly taker: Taker;
  call: NodeCall;

  constructor(taker: Taker, call: NodeCall) {
    this.taker = taker;
    this.call = call;
  }

  abandon(): void {
    this.call.leave(this);
  }

  resume(): void {
    this.call.resume();
  }
}

export class NodeCall implements AnswerListener {
  readonly call: Call;
  /** Who asks. */
  readonly client: number;
  /** By performance.now(). */
  readonly began = performance.now();
  private readonly isRead: boolean;
  private readonly deps: NodeCallDeps;
  private readonly account: Account;
  private readonly options: NodeCallOptions;
  private waiting: Waiting[] = [];
  private exchange: Exchange | null = null;
  private retried = false;
  private status = 0;
  /** The body ends when the connection closes, so a truncated answer looks complete. */
  private isOpenEnded = false;
  private gathered: Buffer[] = [];
  private bytes = 0;
  private stream: TailStream | null = null;

  constructor(call: Call, client: number, deps: NodeCallDeps, options: NodeCallOptions) {
    this.call = call;
    this.client = client;
    this.isRead = kindOf(call.method).isRead;
    this.deps = deps;
    this.account = deps.budget.of(client);
    this.options = options;
  }

  /** Whether it is still queued, so not yet sent to the node. */
  get waits(): boolean {
    return this.exchange?.waits ?? false;
  }

  join(taker: Taker): Waiting {
    const waiting = new Waiting(taker, this);
    this.waiting.push(waiting);
    return waiting;
  }

  adopt(waiting: Waiting): void {
    waiting.call = this;
    this.waiting.push(waiting);
  }

  /**
   * Sends the call, unless the breaker is open. A write goes over a new socket: on a reused one it could be lost without
   * a trace, and a write is never sent twice.
   */
  start(): void {
    if (this.deps.breaker.admits(this.began)) this.post(!this.isRead);
    else this.fail(new UpstreamError('connection', `${this.call.method}: the node has failed repeatedly`));
  }

  /** Removes a taker. When none is left a read is aborted; a write goes on, since it takes effect either way. */
  leave(waiting: Waiting): void {
    const at = this.waiting.indexOf(waiting);
    if (at < 0) return;
    this.waiting.splice(at, 1);
    if (this.waiting.length > 0 || !this.isRead) return;
    this.exchange?.abandon();
    this.drop();
    if (this.stream === null) this.options.onFull();
  }

  resume(): void {
    this.exchange?.resume();
  }

  onHead({ status, length, chunked }: AnswerHead): void {
    this.status = status;
    this.isOpenEnded = length === null && !chunked;
  }

  onBody(piece: Buffer, isLast: boolean): void {
    if (this.stream !== null) return this.passOn(this.stream, piece, isLast);
    if (isLast && this.bytes === 0) return this.complete(piece, false);
    if (this.gather(piece)) {
      if (isLast) this.complete(Buffer.concat(this.gathered), true);
      else if (this.bytes > this.options.gatherBytes) this.beginStream();
      return;
    }
    const others = this.waiting.splice(1);
    if (others.length > 0) this.options.onTooMany(others);
    const stream = this.beginStream();
    if (stream !== null) return this.passOn(stream, piece, isLast);
    this.exchange?.abandon();
    this.drop();
    this.fail(new UpstreamError('too-large', `${this.call.method}: too large an answer to be gathered`));
  }

  onFailed(error: UpstreamError): void {
    this.failed(error, error.reason !== 'timeout' && error.reason !== 'queue-full');
  }

  private post(fresh: boolean): void {
    const { method, params } = this.call;
    const request = upstreamRequest(method, params);
    this.exchange = this.deps.transport.post(request, method, this, { fresh, client: this.client });
  }

  /** Keeps a copy of the piece; false when that would take too much memory. */
  private gather(piece: Buffer): boolean {
    if (this.bytes + piece.length > MAX_GATHERED || !this.account.take(piece.length)) return false;
    this.bytes += piece.length;
    this.gathered.push(Buffer.from(piece));
    return true;
  }

  private drop(): void {
    this.account.give(this.bytes);
    this.gathered = [];
    this.bytes = 0;
  }

  /** Streams the answer from now on if its only taker accepts pieces and the tail has begun; else returns null. */
  private beginStream(): TailStream | null {
    const [only, another] = this.waiting;
    if (only === undefined || another !== undefined || !only.taker.streams) return null;
    if (this.status !== 200 || this.isOpenEnded) return null;
    const beginning = Buffer.concat(this.gathered);
    const start = findTail(beginning);
    if (start === null) return null;
    this.options.onFull();
    only.taker.begin();
    this.exchange?.extend();
    this.stream = new TailStream(beginning, start, (piece) => {
      if (!only.taker.more(piece)) this.exchange?.pause();
    });
    this.drop();
    return this.stream;
  }

  private passOn(stream: TailStream, piece: Buffer, isLast: boolean): void {
    this.exchange?.extend();
    stream.push(piece);
    if (!isLast) return;
    const whole = stream.end();
    if (whole) this.deps.breaker.succeeded();
    for (const { taker } of this.waiting.splice(0)) {
      if (whole) taker.end();
      else taker.cut();
    }
  }

  private complete(body: Buffer, kept: boolean): void {
    let tail: Buffer;
    try {
      tail = this.readAnswer(body);
      this.options.onTail(tail);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return this.failed(error, error.reason !== 'http' || GATEWAY_STATUSES.has(this.status));
    }
    this.drop();
    this.deps.breaker.succeeded();
    this.options.onFull();
    for (const { taker } of this.waiting.splice(0)) taker.take(tail, 200, kept);
  }

  /** The tail. A JSON-RPC error counts as the node's answer whatever the HTTP status is. */
  private readAnswer(body: Buffer): Buffer {
    if (this.status === 200) return this.readWhole(body);
    const error = new UpstreamError('http', `${this.call.method}: HTTP ${this.status}`);
    const tail = this.errorIn(body);
    if (tail === null) throw error;
    return tail;
  }

  private errorIn(body: Buffer): Buffer | null {
    try {
      const tail = this.readWhole(body);
      return isResult(tail) ? null : tail;
    } catch (error) {
      if (error instanceof UpstreamError) return null;
      throw error;
    }
  }

  /** The tail of the body. It is fully checked only if a taker is strict or the body may be truncated. */
  private readWhole(body: Buffer): Buffer {
    const tail = readTail(body);
    if (this.isOpenEnded || this.waiting.some(({ taker }) => taker.strict)) checkTail(tail);
    else glanceAtTail(tail);
    return tail;
  }

  private failed(error: UpstreamError, mayRetry: boolean): void {
    const { breaker, onFailure } = this.deps;
    const ofNode = this.isOfNode(error);
    onFailure(this.call, error, ofNode);
    if (ofNode) breaker.failed(performance.now());
    else if (error.reason === 'http') breaker.succeeded();
    this.drop();
    if (this.stream !== null) {
      for (const { taker } of this.waiting.splice(0)) taker.cut();
    } else if (mayRetry && !this.retried && !breaker.open && this.isRead) {
      this.retried = true;
      this.post(true);
    } else {
      this.fail(error);
    }
  }

  private isOfNode({ reason }: UpstreamError): boolean {
    if (this.exchange?.wasSent === false) return false;
    return reason !== 'http' || this.status < 400 || this.status >= 500 || REFUSAL_STATUSES.has(this.status);
  }

  private fail(error: UpstreamError): void {
    const { tail, status } = failureAnswer(error);
    this.options.onFull();
    for (const { taker } of this.waiting.splice(0)) taker.take(tail, status, true);
  }
}
