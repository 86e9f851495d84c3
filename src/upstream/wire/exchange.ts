/** One request to the node and its answer. */
import { UpstreamError, type UpstreamFailure } from '../../errors.ts';
import type { AnswerHead } from './answer-head.ts';
import type { AnswerListener, Connection } from './connection.ts';
import type { Flow } from './fair-queue.ts';

/** Milliseconds, moved on in steps by its owner. */
export interface Clock {
  now: number;
}

export class Exchange implements AnswerListener {
  readonly request: string;
  /** Whether only a socket that was never used will do. */
  readonly fresh: boolean;
  /** The requests among which it takes its turn. */
  readonly flow: Flow;
  /** If not when it fails, that says nothing of the node. */
  wasSent = false;
  private readonly what: string;
  private readonly timeoutMs: number;
  private readonly clock: Clock;
  private readonly onOver: (exchange: Exchange) => void;
  /** Null once the exchange is over, for whatever cause. */
  private listener: AnswerListener | null;
  private connection: Connection | null = null;
  private deadline: number;
  private paused = false;

  /** `onOver` is called once when the exchange ends, before the listener learns it. */
  constructor(
    request: string,
    listener: AnswerListener,
    options: {
      what: string;
      fresh: boolean;
      flow: Flow;
      timeoutMs: number;
      clock: Clock;
      onOver: (exchange: Exchange) => void;
    },
  ) {
    this.request = request;
    this.fresh = options.fresh;
    this.flow = options.flow;
    this.what = options.what;
    this.timeoutMs = options.timeoutMs;
    this.clock = options.clock;
    this.onOver = options.onOver;
    this.listener = listener;
    this.deadline = this.clock.now + options.timeoutMs;
  }

  /** Whether it still waits for a connection. */
  get waits(): boolean {
    return this.listener !== null && !this.wasSent;
  }

  /** Sends the request over a free connection. The time limit begins anew. */
  start(connection: Connection): void {
    this.wasSent = true;
    this.extend();
    this.connection = connection;
    connection.send(this.request, this);
  }

  /** Ends the exchange: nobody waits for the answer any more. The listener hears no more. */
  abandon(): void {
    if (this.listener !== null) this.break();
  }

  /** Reads no more from the node until `resume`; meanwhile the time limit does not count. */
  pause(): void {
    if (this.listener === null) return;
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (this.listener === null || !this.paused) return;
    this.paused = false;
    this.extend();
    this.connection?.resume();
  }

  /** The time limit begins anew: for answers that are passed on while they come. */
  extend(): void {
    this.deadline = this.clock.now + this.timeoutMs;
  }

  /** Fails the exchange if its time is up. That of one that waits is not while the node answers those before it. */
  expire(): void {
    if (this.clock.now <= this.deadline || this.paused) return;
    if (this.wasSent) return this.fail('timeout', `no complete answer within ${this.timeoutMs} ms`);
    if (this.clock.now <= this.flow.answeredAt + this.timeoutMs) return;
    this.fail('timeout', `no answer to those before it within ${this.timeoutMs} ms`);
  }

  fail(reason: UpstreamFailure, detail: string, options?: ErrorOptions): void {
    const listener = this.listener;
    if (listener === null) return;
    this.break();
    listener.onFailed(new UpstreamError(reason, `${this.what}: ${detail}`, undefined, options));
  }

  onHead(head: AnswerHead): void {
    this.listener?.onHead(head);
  }

  onBody(piece: Buffer, isLast: boolean): void {
    const listener = this.listener;
    this.flow.answeredAt = this.clock.now;
    if (isLast) this.end();
    listener?.onBody(piece, isLast);
  }

  onFailed(error: UpstreamError): void {
    this.connection = null; // it is gone already
    this.fail(error.reason, error.message, { cause: error.cause });
  }

  /** Ends without the rest of the answer. The connection goes first: the next exchange opens one in its place. */
  private break(): void {
    this.connection?.destroy();
    this.end();
  }

  private end(): void {
    this.listener = null;
    this.connection = null;
    this.onOver(this);
  }
}
