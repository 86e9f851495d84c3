/** One request to the node for a call, and its answer: buffered, or streamed as it arrives. */
import type { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import type { Exchange, ResponseConsumer, ResponseHead } from '../node/http/streaming-client.ts';
import { REFUSAL_STATUSES } from '../node/node-errors.ts';
import { anchoredRequest } from './anchored-call.ts';
import { BufferedAnswer } from './buffered-answer.ts';
import type { Call, CallConsumer } from './call.ts';
import { type Throttle, throttleIn } from './hold-off.ts';
import type { AnchorOptions, NodeCallDeps, TailFacts } from './node-call-options.ts';
import { findResponseTail, isResult, nodeRequest, ResponseTailStream } from './response-tail.ts';

/** A longer answer is validated piece by piece on arrival and read over several turns of the event loop. */
const LONG_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * How the call is sent: with anchors, alone, or once more. Each is tried at most once, in this order, except that with
 * several nodes a call is repeated until a node answers or its time is up.
 */
export type AttemptKind = AnchorOptions | 'alone' | 'repeated';

/** The call that an attempt is for. */
export interface AttemptOwner {
  readonly call: Call;
  readonly client: number;
  readonly isRead: boolean;
  /** An answer up to this size is buffered in any case. */
  readonly bufferBytes: number;
  /** The answer will probably have to be valid JSON. */
  readonly needsJson: boolean;
  /** The only consumer of the call if it accepts pieces, else null. */
  streamingConsumer(): CallConsumer | null;
  /** Called before the first piece goes to the streaming consumer. */
  onStream(): void;
  /** The answer has been streamed. `last`: its last piece; null if it is incomplete. */
  onStreamEnd(last: Buffer | null): void;
  /** The answer is complete and was not streamed. */
  onAnswer(attempt: NodeAttempt, body: Buffer, facts: TailFacts): void;
  /** The answer cannot be buffered for all consumers: lets only the first stay. */
  keepOneConsumer(): void;
  /** The anchored answer is too large: sends the call alone. */
  sendAlone(): void;
  /** The answer can be neither buffered nor streamed. */
  onOverflow(why: 'too-large' | 'no-room'): void;
  onFailure(attempt: NodeAttempt, error: UpstreamError): void;
}

/** The answer goes to a consumer as it arrives. */
interface Streaming {
  tail: ResponseTailStream;
  /** The consumer has no room until `resume`. */
  isFull: boolean;
}

export class NodeAttempt implements ResponseConsumer {
  readonly kind: AttemptKind;
  /** Position of the asked node in the configuration, if there are several. */
  readonly node: number | undefined;
  private readonly owner: AttemptOwner;
  private readonly deps: NodeCallDeps;
  private readonly exchange: Exchange;
  private head: ResponseHead | null = null;
  /** The answer so far; null before a piece is stored. A short answer arrives whole and is never stored. */
  private answer: BufferedAnswer | Streaming | null = null;

  /** Sends the request. */
  constructor(owner: AttemptOwner, deps: NodeCallDeps, kind: AttemptKind, newSocket: boolean) {
    const { call, client, isRead } = owner;
    this.owner = owner;
    this.deps = deps;
    this.kind = kind;
    this.node = deps.failover?.node;
    const request =
      typeof kind === 'object' ? anchoredRequest(call, kind.blocks) : nodeRequest(call.method, call.params);
    this.exchange = deps.node.post(request, call.method, this, { newSocket, client, isWrite: !isRead });
  }

  /** Whether the answer is expected to come with anchors. */
  get isAnchored(): boolean {
    return typeof this.kind === 'object';
  }

  /** Whether the request is still queued. */
  get isQueued(): boolean {
    return this.exchange.isQueued;
  }

  get wasSent(): boolean {
    return this.exchange.wasSent;
  }

  get isStreaming(): boolean {
    return this.answer !== null && !(this.answer instanceof BufferedAnswer);
  }

  /** The HTTP status of the answer, 0 without one. */
  get status(): number {
    return this.head?.status ?? 0;
  }

  /** The refusal of calls for a while, if that is the answer. */
  get throttle(): Throttle | null {
    return this.head === null ? null : throttleIn(this.head);
  }

  /** Retry-After in seconds; 0 without one. */
  get retryAfter(): number {
    return this.head?.retryAfter ?? 0;
  }

  /** The body ends when the connection closes, so a truncated answer looks complete. */
  get isOpenEnded(): boolean {
    return this.head !== null && this.head.length === null && !this.head.chunked;
  }

  /** Whether the failure counts against the node in use. A late failure of the previous node does not. */
  isOfNode({ reason }: UpstreamError): boolean {
    if (this.node !== this.deps.failover?.node) return false;
    if (!this.wasSent || reason === 'inconsistent') return false;
    return reason !== 'http' || this.status < 400 || this.status >= 500 || REFUSAL_STATUSES.has(this.status);
  }

  /** Ends the exchange, if it has not ended, and returns the memory of the answer. */
  close(): void {
    this.exchange.cancel();
    if (this.answer instanceof BufferedAnswer) this.answer.release();
    this.answer = null;
  }

  /** The streaming consumer can take more pieces. */
  resume(): void {
    const { answer } = this;
    if (answer !== null && !(answer instanceof BufferedAnswer)) answer.isFull = false;
    this.exchange.resume();
  }

  begin(head: ResponseHead): void {
    this.head = head;
  }

  write(piece: Buffer): boolean {
    const { answer } = this;
    if (answer instanceof BufferedAnswer) return this.buffer(answer, piece);
    if (answer !== null) return this.forward(answer, piece);
    const budget = this.deps.budget.forClient(this.owner.client);
    const buffered = new BufferedAnswer(budget, this.head?.length ?? null);
    this.answer = buffered;
    return this.buffer(buffered, piece);
  }

  end(last: Buffer): void {
    const { answer, owner } = this;
    if (answer === null) return owner.onAnswer(this, last, { isJson: false, mayRetain: false });
    if (!(answer instanceof BufferedAnswer)) return owner.onStreamEnd(answer.tail.end(last));
    const outcome = answer.add(last);
    if (outcome === 'added') {
      answer.validate(last);
      const isJson = answer.endValidation();
      return owner.onAnswer(this, answer.join(), { isJson, mayRetain: true });
    }
    const stream = this.overflow(answer, last, outcome);
    if (stream !== null) owner.onStreamEnd(stream.tail.end(NOTHING));
  }

  abort(error: UpstreamError): void {
    this.owner.onFailure(this, error);
  }

  private buffer(answer: BufferedAnswer, piece: Buffer): boolean {
    const outcome = answer.add(piece);
    if (outcome !== 'added') return this.overflow(answer, piece, outcome)?.isFull !== true;
    if (answer.length > this.owner.bufferBytes) {
      if (this.isAnchored) {
        this.owner.sendAlone();
        return true;
      }
      const stream = this.stream(answer);
      if (stream !== null) return !stream.isFull;
    }
    return this.spreadReading(answer, piece);
  }

  /** The answer cannot be buffered: streams it to the first consumer if possible. */
  private overflow(answer: BufferedAnswer, piece: Buffer, why: 'too-large' | 'no-room'): Streaming | null {
    const { owner } = this;
    if (this.isAnchored) {
      owner.sendAlone();
      return null;
    }
    owner.keepOneConsumer();
    const stream = this.stream(answer, piece);
    if (stream === null) owner.onOverflow(why);
    return stream;
  }

  /**
   * Validates a piece of a long answer. Returns false, and resumes in the next turn of the event loop, once this turn
   * has read enough.
   */
  private spreadReading(answer: BufferedAnswer, piece: Buffer): boolean {
    if (answer.length <= LONG_BYTES) return true;
    if (answer.isValidationUndecided) {
      answer.beginValidation(!this.isAnchored && (this.owner.needsJson || this.isOpenEnded));
    } else answer.validate(piece);
    if (this.deps.turns.spend(piece.length)) return true;
    const resume = guarded('answer of the node', () => {
      if (!this.isFull) this.exchange.resume();
    });
    setImmediate(resume);
    return false;
  }

  private get isFull(): boolean {
    const { answer } = this;
    return answer !== null && !(answer instanceof BufferedAnswer) && answer.isFull;
  }

  /**
   * Streams the answer, consisting of the buffered part and this piece so far, if its only consumer accepts pieces and
   * the response tail has begun; else returns null. Errors are never streamed, because a consumer may react to an error
   * with other calls.
   */
  private stream(buffered: BufferedAnswer, piece?: Buffer): Streaming | null {
    const consumer = this.owner.streamingConsumer();
    if (consumer === null || this.status !== 200 || this.isOpenEnded) return null;
    const beginning = piece === undefined ? buffered.join() : Buffer.concat([buffered.join(), piece]);
    const start = findResponseTail(beginning);
    if (start === null || !isResult(beginning.subarray(start.at))) return null;
    const streaming: Streaming = { tail: new ResponseTailStream(start, consumer), isFull: false };
    this.owner.onStream();
    this.answer = streaming;
    buffered.release();
    consumer.begin();
    this.exchange.restartTimeout();
    streaming.isFull = !streaming.tail.write(beginning.subarray(start.at));
    return streaming;
  }

  private forward(streaming: Streaming, piece: Buffer): boolean {
    this.exchange.restartTimeout();
    const hasRoom = streaming.tail.write(piece);
    if (!hasRoom) streaming.isFull = true;
    return hasRoom;
  }
}
