/** One call to the node for one or more sinks: buffers the answer, or streams it as it arrives. */
import { UpstreamError } from '../errors.ts';
import type { ByteBudget, ClientBudget } from '../lib/byte-budget.ts';
import { GATEWAY_STATUSES, REFUSAL_STATUSES } from '../upstream/node-errors.ts';
import type { Exchange, ResponseHead, ResponseListener, WireTransport } from '../upstream/wire/transport.ts';
import type { CircuitBreaker } from './breaker.ts';
import type { Answer, AnswerSink, Call, CallHandle } from './call.ts';
import { errorAnswer, failureAnswer, NO_ROOM } from './errors.ts';
import { methodKindOf } from './method-kind.ts';
import {
  checkPayload,
  errorOf,
  extractPayload,
  findPayload,
  isResult,
  quickCheckPayload,
  upstreamRequest,
} from './payload.ts';
import { PayloadStream } from './payload-stream.ts';

/** Most bytes of a buffered answer: more than any node sends at its default limits. */
const MAX_BUFFERED = 64 * 1024 * 1024;

const TOO_LARGE = failureAnswer(new UpstreamError('too-large', 'an answer beyond what is buffered'));

export interface NodeCallDeps {
  transport: Pick<WireTransport, 'post'>;
  breaker: CircuitBreaker;
  budget: ByteBudget;
  /** Called for each failed try; `ofNode` says whether the failure is about the node rather than the request. */
  onFailure(call: Call, error: UpstreamError, ofNode: boolean): void;
}

export interface NodeCallOptions {
  /** Up to so many bytes the answer is buffered even if its only sink accepts pieces, because it may be cached. */
  bufferBytes: number;
  /**
   * Called with the complete answer before the sinks get it; its memory may be reused afterwards. Throws UpstreamError
   * `malformed` when it is not an answer.
   */
  onPayload(payload: Buffer): void;
  /** No more sinks may join. Called once, before any sink is served. */
  onSealed(): void;
  /** Buffering the answer for all sinks would take too much memory: these need calls of their own. */
  onEvicted(waiters: readonly Waiter[]): void;
}

/** A sink waiting for a call, which may be moved to another call. */
export class Waiter implements CallHandle {
  readonly sink: AnswerSink;
  /** Id of the key that asks. */
  readonly client: number;
  call: NodeCall;

  constructor(sink: AnswerSink, client: number, call: NodeCall) {
    this.sink = sink;
    this.client = client;
    this.call = call;
  }

  cancel(): void {
    this.call.leave(this);
  }

  resume(): void {
    this.call.resume();
  }
}

export class NodeCall implements ResponseListener {
  readonly call: Call;
  /** Id of the key that asked first: the call counts against its share of sockets and memory. */
  readonly client: number;
  /** By performance.now(). */
  readonly startedAt = performance.now();
  private readonly isRead: boolean;
  private readonly deps: NodeCallDeps;
  private readonly budget: ClientBudget;
  private readonly options: NodeCallOptions;
  private waiters: Waiter[] = [];
  private exchange: Exchange | null = null;
  private retried = false;
  private status = 0;
  /** The body ends when the connection closes, so a truncated answer looks complete. */
  private isOpenEnded = false;
  private buffered: Buffer[] = [];
  private bytes = 0;
  private stream: PayloadStream | null = null;

  constructor(call: Call, client: number, deps: NodeCallDeps, options: NodeCallOptions) {
    this.call = call;
    this.client = client;
    this.isRead = methodKindOf(call.method).isRead;
    this.deps = deps;
    this.budget = deps.budget.forClient(client);
    this.options = options;
  }

  /** Whether it is still queued, so not yet sent to the node. */
  get isQueued(): boolean {
    return this.exchange?.isQueued ?? false;
  }

  join(sink: AnswerSink, client: number): Waiter {
    const waiter = new Waiter(sink, client, this);
    this.waiters.push(waiter);
    return waiter;
  }

  adopt(waiter: Waiter): void {
    waiter.call = this;
    this.waiters.push(waiter);
  }

  /**
   * Sends the call, unless the breaker is open. A write goes over a new socket: on a reused one it could be lost without
   * a trace, and a write is never sent twice.
   */
  start(): void {
    if (this.deps.breaker.admits(this.startedAt)) this.post(!this.isRead);
    else this.failWaiters(failureAnswer(new UpstreamError('connection', 'the node has failed repeatedly')));
  }

  /** Removes a sink. When none is left a read is aborted; a write goes on, since it takes effect either way. */
  leave(waiter: Waiter): void {
    const at = this.waiters.indexOf(waiter);
    if (at < 0) return;
    this.waiters.splice(at, 1);
    if (this.waiters.length > 0 || !this.isRead) return;
    this.exchange?.cancel();
    this.releaseBuffer();
    if (this.stream === null) this.options.onSealed();
  }

  resume(): void {
    this.exchange?.resume();
  }

  onHead({ status, length, chunked }: ResponseHead): void {
    this.status = status;
    this.isOpenEnded = length === null && !chunked;
  }

  onBody(piece: Buffer, isLast: boolean): void {
    if (this.stream !== null) return this.forward(this.stream, piece, isLast);
    if (isLast && this.bytes === 0) return this.complete(piece, false);
    if (this.buffer(piece)) {
      if (isLast) this.complete(Buffer.concat(this.buffered), true);
      else if (this.bytes > this.options.bufferBytes) this.beginStream(this.buffered);
      return;
    }
    const others = this.waiters.splice(1);
    if (others.length > 0) this.options.onEvicted(others);
    const stream = this.beginStream([...this.buffered, piece]);
    if (stream !== null) {
      if (isLast) this.endStream(stream);
      return;
    }
    const isTooLarge = this.bytes + piece.length > MAX_BUFFERED;
    this.exchange?.cancel();
    this.releaseBuffer();
    this.failWaiters(isTooLarge ? TOO_LARGE : errorAnswer(NO_ROOM));
  }

  onFailed(error: UpstreamError): void {
    this.handleFailure(error, error.reason !== 'timeout' && error.reason !== 'queue-full');
  }

  private post(newSocket: boolean): void {
    const { method, params } = this.call;
    const request = upstreamRequest(method, params);
    this.exchange = this.deps.transport.post(request, method, this, { newSocket, client: this.client });
  }

  /** Keeps a copy of the piece; false when that would take too much memory. */
  private buffer(piece: Buffer): boolean {
    if (this.bytes + piece.length > MAX_BUFFERED || !this.budget.reserve(piece.length)) return false;
    this.bytes += piece.length;
    this.buffered.push(Buffer.from(piece));
    return true;
  }

  private releaseBuffer(): void {
    this.budget.release(this.bytes);
    this.buffered = [];
    this.bytes = 0;
  }

  /**
   * Streams the answer, of which these pieces have come, if its only sink accepts pieces and the payload has begun; else
   * returns null. An error is never streamed: a sink may read it, and make other calls in place of this one.
   */
  private beginStream(pieces: readonly Buffer[]): PayloadStream | null {
    const [only, another] = this.waiters;
    if (only === undefined || another !== undefined || !only.sink.canStream) return null;
    if (this.status !== 200 || this.isOpenEnded) return null;
    const beginning = Buffer.concat(pieces);
    const start = findPayload(beginning);
    if (start === null || !isResult(beginning.subarray(start.at))) return null;
    this.options.onSealed();
    only.sink.begin();
    this.exchange?.restartTimeout();
    this.stream = new PayloadStream(beginning, start, (piece) => {
      if (!only.sink.write(piece)) this.exchange?.pause();
    });
    this.releaseBuffer();
    return this.stream;
  }

  private forward(stream: PayloadStream, piece: Buffer, isLast: boolean): void {
    this.exchange?.restartTimeout();
    stream.push(piece);
    if (isLast) this.endStream(stream);
  }

  private endStream(stream: PayloadStream): void {
    const isComplete = stream.end();
    if (isComplete) this.deps.breaker.succeeded();
    for (const { sink } of this.waiters.splice(0)) {
      if (isComplete) sink.end();
      else sink.abort();
    }
  }

  private complete(body: Buffer, mayRetain: boolean): void {
    let payload: Buffer;
    try {
      payload = this.readAnswer(body);
      this.options.onPayload(payload);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return this.handleFailure(error, error.reason !== 'http' || GATEWAY_STATUSES.has(this.status));
    }
    this.releaseBuffer();
    this.deps.breaker.succeeded();
    this.options.onSealed();
    for (const { sink } of this.waiters.splice(0)) sink.send(payload, 200, mayRetain);
  }

  /** The payload. A JSON-RPC error counts as the node's answer whatever the HTTP status is. */
  private readAnswer(body: Buffer): Buffer {
    if (this.status === 200) return this.readWhole(body);
    const payload = this.errorIn(body);
    if (payload !== null) return payload;
    const message = `${this.call.method}: HTTP ${this.status}`;
    throw new UpstreamError('http', message, undefined, { httpStatus: this.status });
  }

  private errorIn(body: Buffer): Buffer | null {
    try {
      const payload = this.readWhole(body);
      return isResult(payload) ? null : payload;
    } catch (error) {
      if (error instanceof UpstreamError) return null;
      throw error;
    }
  }

  /**
   * The payload of the body. A result is fully checked only if a sink requires valid JSON or the body may be truncated.
   * An error always is: sinks read it, when it is too late to treat the answer as malformed.
   */
  private readWhole(body: Buffer): Buffer {
    const payload = extractPayload(body);
    const mustBeValid = this.isOpenEnded || this.waiters.some(({ sink }) => sink.requiresValidJson);
    if (!isResult(payload)) errorOf(payload);
    else if (mustBeValid) checkPayload(payload);
    else quickCheckPayload(payload);
    return payload;
  }

  private handleFailure(error: UpstreamError, mayRetry: boolean): void {
    const { breaker, onFailure } = this.deps;
    const ofNode = this.isOfNode(error);
    onFailure(this.call, error, ofNode);
    if (ofNode) breaker.failed(performance.now());
    else if (error.reason === 'http') breaker.succeeded();
    this.releaseBuffer();
    if (this.stream !== null) {
      for (const { sink } of this.waiters.splice(0)) sink.abort();
    } else if (mayRetry && !this.retried && !breaker.isOpen && this.isRead) {
      this.retried = true;
      this.post(true);
    } else {
      this.failWaiters(failureAnswer(error));
    }
  }

  private isOfNode({ reason }: UpstreamError): boolean {
    if (this.exchange?.wasSent === false) return false;
    return reason !== 'http' || this.status < 400 || this.status >= 500 || REFUSAL_STATUSES.has(this.status);
  }

  private failWaiters({ payload, status }: Answer): void {
    this.options.onSealed();
    for (const { sink } of this.waiters.splice(0)) sink.send(payload, status, true);
  }
}
