/** One request to the node and its answer. */
import { UpstreamError, type UpstreamFailure } from '../../errors.ts';
import type { AnswerHead } from './answer-head.ts';
import type { AnswerListener, Connection } from './connection.ts';
import type { Flow } from './fair-queue.ts';

/** Milliseconds, advanced in steps by its owner. */
export interface Clock {
  now: number;
}

export class Exchange implements AnswerListener {
  readonly request: string;
  /** Whether it needs a socket that was never used. */
  readonly fresh: boolean;
  /** The requests of its client, which take turns with those of others. */
  readonly flow: Flow;
  /** If not when it fails, that says nothing of the node. */
  wasSent = false;
  private readonly what: string;
  private readonly timeoutMs: number;
  private readonly clock: Clock;
  private readonly onOver: (exchange: Exchange) => void;
  /** Null once the exchange is over, for whatever reason. */
  private listener: AnswerListener | null;
  private connection: Connection | null = null;
  private deadline: number;
  private paused = false;

  /** `onOver` is called once when the exchange ends, before the listener is told. */
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

  /** Whether it is still waiting for a connection. */
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

  /** Ends the exchange because nobody waits for the answer any more. The listener is not called again. */
  abandon(): void {
    if (this.listener !== null) this.break();
  }

  /** Stops reading from the node until `resume`; meanwhile the timeout is suspended. */
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

  /** Restarts the timeout: for answers that are streamed. */
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
    this.connection = null; // it is already closed
    this.fail(error.reason, error.message, { cause: error.cause });
  }

  /** Ends without the rest of the answer. Closes the connection first, so that the next exchange can open another. */
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
