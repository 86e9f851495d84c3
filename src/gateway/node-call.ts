/** One call to the node for one or more sinks. Buffers the answer, or streams it as it arrives. */

import { UpstreamError } from '../lib/errors.ts';
import { guarded, reportFailure } from '../lib/guard.ts';
import type { Exchange, ResponseHead, ResponseListener } from '../node/http/streaming-client.ts';
import { GATEWAY_STATUSES, REFUSAL_STATUSES } from '../node/node-errors.ts';
import { anchoredRequest, isBatchAnswer, readAnchored } from './anchored-call.ts';
import { BufferedAnswer } from './buffered-answer.ts';
import { type Call, type CallResult, type CallSink, Waiter } from './call.ts';
import { errorResult, failureResult, NO_ROOM } from './errors.ts';
import { isUnsent, mayMoveRead } from './failover.ts';
import { methodKindOf } from './methods.ts';
import type { AnchorOptions, NodeCallDeps, NodeCallOptions } from './node-call-options.ts';
import {
  findResponseTail,
  isResult,
  nodeRequest,
  ResponseTailStream,
  readNodeAnswer,
} from './response-tail.ts';

/** A longer answer is validated piece by piece on arrival and read over several turns of the event loop. */
const LONG_BYTES = 64 * 1024;
/** Bytes of long answers buffered per turn of the event loop, over all calls. */
export const BUFFERED_PER_TURN = 256 * 1024;

/** Statuses that do not show whether the node accepts batches. */
const UNAVAILABLE: ReadonlySet<number> = new Set([...GATEWAY_STATUSES, ...REFUSAL_STATUSES]);

const TOO_LARGE = failureResult(new UpstreamError('too-large', 'an answer beyond the buffer limit'));

/**
 * The state of a call:
 *
 *     waiting -> (BufferedAnswer -> (ResponseTailStream)) -> settled
 *
 * `waiting`: nothing of the answer is stored. A short answer arrives whole and stays in this state until it settles.
 * `BufferedAnswer`: collects pieces. A new attempt returns to `waiting`. `ResponseTailStream`: pieces go to the only
 * sink as they arrive; no new attempt is possible. `settled`: the sinks are served, or have all left.
 */
type State = 'waiting' | BufferedAnswer | ResponseTailStream | 'settled';

/**
 * The request in progress: `anchored -> alone -> repeated`; steps may be skipped. Each is made at most once, except
 * that with several nodes a call is repeated until a node answers or its time is up.
 */
type Attempt = 'anchored' | 'alone' | 'repeated';

export class NodeCall implements ResponseListener {
  readonly call: Call;
  /** Id of the key that called first. The call counts against that key's share of sockets and memory. */
  readonly client: number;
  /** By performance.now(). */
  readonly startedAt = performance.now();
  private readonly isRead: boolean;
  private readonly deps: NodeCallDeps;
  private readonly options: NodeCallOptions;
  private waiters: Waiter[] = [];
  private state: State = 'waiting';
  private attempt: Attempt;
  private exchange: Exchange | null = null;
  /** Position of the asked node in the configuration, if there are several. */
  private node: number | undefined;
  private head: ResponseHead | null = null;
  /** The sink accepts no more pieces until `resume`. */
  private isSinkFull = false;
  /** Cancels the wait for a usable node. */
  private stopWaiting: (() => void) | null = null;

  constructor(call: Call, client: number, deps: NodeCallDeps, options: NodeCallOptions) {
    this.call = call;
    this.client = client;
    this.isRead = methodKindOf(call.method).isRead;
    this.deps = deps;
    this.options = options;
    this.attempt = options.anchored === undefined ? 'alone' : 'anchored';
  }

  /** Whether the answer is expected to come with anchors. */
  get isAnchored(): boolean {
    return this.attempt === 'anchored';
  }

  /** Whether the call is still queued and so not sent to the node. */
  get isQueued(): boolean {
    return this.exchange?.isQueued ?? false;
  }

  join(sink: CallSink, client: number): Waiter {
    const waiter = new Waiter(sink, client, this);
    this.waiters.push(waiter);
    return waiter;
  }

  adopt(waiter: Waiter): void {
    waiter.call = this;
    this.waiters.push(waiter);
  }

  /**
   * Sends the call unless the breaker is open. A write uses a new socket: on a reused one it could be lost without a
   * trace, and a write is never sent twice.
   */
  start(): void {
    if (this.deps.breaker.admits(this.startedAt)) {
      this.post(!this.isRead || this.options.anchored?.newSocket === true);
    } else {
      const error = new UpstreamError('connection', 'the node has failed repeatedly');
      if (!this.moves(error)) this.failWaiters(failureResult(error));
    }
  }

  /** Removes a sink. Without sinks a read is aborted; a write continues, because it takes effect either way. */
  leave(waiter: Waiter): void {
    const at = this.waiters.indexOf(waiter);
    if (at < 0) return;
    this.waiters.splice(at, 1);
    if (this.waiters.length > 0 || !this.isRead) return;
    this.exchange?.cancel();
    this.stopWaiting?.();
    const wasSealed = this.state instanceof ResponseTailStream;
    this.enter('settled');
    if (!wasSealed) this.options.onSealed();
  }

  resume(): void {
    this.isSinkFull = false;
    this.exchange?.resume();
  }

  onHead(head: ResponseHead): void {
    this.head = head;
  }

  onBody(piece: Buffer, isLast: boolean): void {
    const { state } = this;
    if (state instanceof ResponseTailStream) return this.forward(state, piece, isLast);
    if (state instanceof BufferedAnswer) return this.buffer(state, piece, isLast);
    if (isLast) return this.complete(piece, false);
    const answer = new BufferedAnswer(this.deps.budget.forClient(this.client), this.head?.length ?? null);
    this.state = answer;
    this.buffer(answer, piece, false);
  }

  onFailed(error: UpstreamError): void {
    this.handleFailure(error, error.reason !== 'timeout' && error.reason !== 'queue-full');
  }

  private get anchors(): AnchorOptions | null {
    return this.isAnchored ? (this.options.anchored ?? null) : null;
  }

  private post(newSocket: boolean): void {
    const { call, anchors } = this;
    const request =
      anchors === null ? nodeRequest(call.method, call.params) : anchoredRequest(call, anchors.blocks);
    this.node = this.deps.failover?.node;
    this.exchange = this.deps.node.post(request, call.method, this, {
      newSocket,
      client: this.client,
      isWrite: !this.isRead,
    });
  }

  /** All state changes after pieces are buffered go through here, so that their memory is returned. */
  private enter(state: State): void {
    if (this.state instanceof BufferedAnswer) this.state.release();
    this.state = state;
  }

  /** Drops the pieces so far and sends the call alone. */
  private sendAlone(): void {
    this.exchange?.cancel();
    this.enter('waiting');
    this.attempt = 'alone';
    this.post(false);
  }

  private buffer(answer: BufferedAnswer, piece: Buffer, isLast: boolean): void {
    const outcome = answer.add(piece);
    if (outcome !== 'added') return this.overflow(answer, piece, isLast, outcome);
    if (isLast) {
      answer.validate(piece);
      return this.complete(answer.join(), true, answer.endValidation());
    }
    const mayStream = answer.length > this.options.bufferBytes;
    if (mayStream && this.isAnchored) return this.sendAlone();
    if (!mayStream || this.beginStream(answer) === null) this.spreadReading(answer, piece);
  }

  /** The answer cannot be buffered: stream it to the first sink if possible, and give the others calls of their own. */
  private overflow(
    answer: BufferedAnswer,
    piece: Buffer,
    isLast: boolean,
    why: 'too-large' | 'no-room',
  ): void {
    if (this.isAnchored) return this.sendAlone();
    const others = this.waiters.splice(1);
    if (others.length > 0) this.options.onEvicted(others);
    const stream = this.beginStream(answer, piece);
    if (stream !== null) {
      if (isLast) this.endStream(stream);
      return;
    }
    this.exchange?.cancel();
    this.failWaiters(why === 'too-large' ? TOO_LARGE : errorResult(NO_ROOM));
  }

  /**
   * Validates a piece of a long answer, and pauses until the next turn of the event loop once this turn has read
   * enough.
   */
  private spreadReading(answer: BufferedAnswer, piece: Buffer): void {
    if (answer.length <= LONG_BYTES) return;
    if (answer.isValidationUndecided) {
      answer.beginValidation(!this.isAnchored && (this.options.needsJson || this.mustBeJson));
    } else answer.validate(piece);
    if (this.deps.turns.spend(piece.length)) return;
    this.exchange?.pause();
    const resume = guarded('answer of the node', () => {
      if (!this.isSinkFull) this.exchange?.resume();
    });
    setImmediate(resume);
  }

  private get mustBeJson(): boolean {
    return this.isOpenEnded || this.waiters.some(({ sink }) => sink.requiresValidJson);
  }

  /** The body ends when the connection closes, so a truncated answer looks complete. */
  private get isOpenEnded(): boolean {
    return this.head !== null && this.head.length === null && !this.head.chunked;
  }

  private get status(): number {
    return this.head?.status ?? 0;
  }

  /**
   * Streams the answer, consisting of the buffered part and this piece so far, if its only sink accepts pieces and the
   * response tail has begun; else returns null. Errors are never streamed, because a sink may react to an error with
   * other calls.
   */
  private beginStream(answer: BufferedAnswer, piece?: Buffer): ResponseTailStream | null {
    const [only, another] = this.waiters;
    if (only === undefined || another !== undefined || !only.sink.canStream) return null;
    if (this.status !== 200 || this.isOpenEnded) return null;
    const beginning = piece === undefined ? answer.join() : Buffer.concat([answer.join(), piece]);
    const start = findResponseTail(beginning);
    if (start === null || !isResult(beginning.subarray(start.at))) return null;
    this.options.onSealed();
    only.sink.begin();
    this.exchange?.restartTimeout();
    const stream = new ResponseTailStream(beginning, start, (part) => {
      if (only.sink.write(part)) return;
      this.isSinkFull = true;
      this.exchange?.pause();
    });
    this.enter(stream);
    return stream;
  }

  private forward(stream: ResponseTailStream, piece: Buffer, isLast: boolean): void {
    this.exchange?.restartTimeout();
    stream.push(piece);
    if (isLast) this.endStream(stream);
  }

  private endStream(stream: ResponseTailStream): void {
    const isComplete = stream.end();
    this.enter('settled');
    if (isComplete) this.deps.breaker.succeeded();
    this.settle((sink) => (isComplete ? sink.end() : sink.abort()));
  }

  private complete(body: Buffer, mayRetain: boolean, isJson = false): void {
    const { anchors } = this;
    if (anchors !== null && !UNAVAILABLE.has(this.status)) return this.completeAnchored(body, anchors);
    let tail: Buffer;
    try {
      const { status, mustBeJson } = this;
      tail = readNodeAnswer(body, { method: this.call.method, status, isJson, mustBeJson });
      this.options.onTail(tail, { isJson, mayRetain });
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return this.handleFailure(error, error.reason !== 'http' || GATEWAY_STATUSES.has(this.status));
    }
    this.serve(tail, mayRetain);
  }

  private completeAnchored(body: Buffer, { blocks, onAnswer }: AnchorOptions): void {
    const answer = this.status === 200 ? readAnchored(body, blocks) : null;
    this.deps.onBatch(answer !== null || isBatchAnswer(body));
    if (answer === null) return this.sendAlone();
    if (!onAnswer(answer)) {
      const later = this.waiters.splice(1);
      if (later.length > 0) this.options.onEvicted(later);
    }
    this.serve(answer.tail, true);
  }

  private serve(tail: Buffer, mayRetain: boolean): void {
    this.enter('settled');
    this.deps.breaker.succeeded();
    this.options.onSealed();
    this.settle((sink) => sink.send(tail, 200, mayRetain));
  }

  private handleFailure(error: UpstreamError, mayRetry: boolean): void {
    const { breaker, onFailure } = this.deps;
    const ofNode = this.isOfNode(error);
    onFailure(this.call, error, ofNode);
    if (ofNode) breaker.failed(performance.now());
    else if (error.reason === 'http') breaker.succeeded();
    if (this.state instanceof ResponseTailStream) {
      this.enter('settled');
      this.settle((sink) => sink.abort());
    } else if (mayRetry && this.attempt !== 'repeated' && !breaker.isOpen && this.isRead) {
      this.enter('waiting');
      this.attempt = 'repeated';
      this.post(true);
    } else if (!this.moves(error)) {
      this.failWaiters(failureResult(error));
    }
  }

  /** With several nodes: waits for a usable node, unless the call's time is up or it may have taken effect. */
  private moves(error: UpstreamError): boolean {
    const { failover } = this.deps;
    const wasSent = this.exchange?.wasSent ?? false;
    if (failover === undefined || !(this.isRead ? mayMoveRead(error) : isUnsent(error, wasSent)))
      return false;
    this.enter('waiting');
    this.stopWaiting = failover.awaitNode(this.startedAt, () => {
      this.stopWaiting = null;
      this.attempt = 'repeated';
      this.post(true);
    });
    return this.stopWaiting !== null;
  }

  /** Whether a failure counts against the node in use. A late failure of the previous node does not. */
  private isOfNode({ reason }: UpstreamError): boolean {
    if (this.node !== this.deps.failover?.node) return false;
    if (this.exchange?.wasSent === false || reason === 'inconsistent') return false;
    return reason !== 'http' || this.status < 400 || this.status >= 500 || REFUSAL_STATUSES.has(this.status);
  }

  private failWaiters({ tail, status }: CallResult): void {
    this.enter('settled');
    this.options.onSealed();
    this.settle((sink) => sink.send(tail, status, true));
  }

  /** Ends the wait of all clients. A failure of one must not leave the others without an answer. */
  private settle(answer: (sink: CallSink) => void): void {
    for (const { sink } of this.waiters.splice(0)) {
      try {
        answer(sink);
      } catch (error) {
        reportFailure('answer to a call', error);
      }
    }
  }
}
