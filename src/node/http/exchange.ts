/** An exchange: one request to the node and its answer. */
import type { ByteSource } from '../../lib/byte-stream.ts';
import { UpstreamError, type UpstreamFailure } from '../../lib/errors.ts';
import { reportFailure } from '../../lib/guard.ts';
import type { Connection } from './connection.ts';
import type { ResponseHead } from './response-head.ts';
import type { ResponseConsumer } from './response-reader.ts';

/** Time in milliseconds, advanced in steps by its owner. */
export interface Clock {
  now: number;
}

/** The requests of one client. */
export interface Flow {
  /** Whether the flow is limited to a fair share, so that other clients find free places. */
  readonly isLimited: boolean;
  running: number;
  /** Queued requests in order of arrival. */
  readonly waiting: Set<Exchange>;
  waitingBytes: number;
  /** When the node last sent part of an answer, by the clock of the exchanges. */
  lastProgressAt: number;
}

export class Exchange implements ResponseConsumer, ByteSource {
  readonly request: string;
  /** Whether the request needs a new socket. */
  readonly newSocket: boolean;
  /** Whether the request has an effect. */
  readonly isWrite: boolean;
  /** The requests of its client, which take turns with other clients. */
  readonly flow: Flow;
  /** Whether the request was sent. A failure before that says nothing about the node. */
  wasSent = false;
  /** Whether the request was sent over a used socket, which the node may just have closed. */
  onUsedSocket = false;
  private readonly what: string;
  private readonly timeoutMs: number;
  private readonly clock: Clock;
  private readonly onEnd: (exchange: Exchange) => void;
  /** Null once the exchange has ended. */
  private consumer: ResponseConsumer | null;
  private connection: Connection | null = null;
  private deadline: number;
  /** The consumer has no room, so the connection is paused. */
  private paused = false;

  /** `onEnd` is called once when the exchange ends, before the consumer. */
  constructor(
    request: string,
    consumer: ResponseConsumer,
    options: {
      what: string;
      newSocket: boolean;
      isWrite: boolean;
      flow: Flow;
      timeoutMs: number;
      clock: Clock;
      onEnd: (exchange: Exchange) => void;
    },
  ) {
    this.request = request;
    this.newSocket = options.newSocket;
    this.isWrite = options.isWrite;
    this.flow = options.flow;
    this.what = options.what;
    this.timeoutMs = options.timeoutMs;
    this.clock = options.clock;
    this.onEnd = options.onEnd;
    this.consumer = consumer;
    this.deadline = this.clock.now + options.timeoutMs;
  }

  /** Whether the request is queued for a connection. */
  get isQueued(): boolean {
    return this.consumer !== null && !this.wasSent;
  }

  /** Sends the request over a free connection and restarts the timeout. */
  start(connection: Connection): void {
    this.wasSent = true;
    this.restartTimeout();
    this.connection = connection;
    this.onUsedSocket = connection.requests > 0;
    connection.send(this.request, this);
  }

  cancel(): void {
    if (this.consumer !== null) this.terminate();
  }

  /** Reads on after a piece for which the consumer had no room. */
  resume(): void {
    if (this.consumer === null || !this.paused) return;
    this.paused = false;
    this.restartTimeout();
    this.connection?.resume();
  }

  /** Restarts the timeout. Call it for each piece of a streamed answer. */
  restartTimeout(): void {
    this.deadline = this.clock.now + this.timeoutMs;
  }

  /** Fails the exchange if it timed out. A queued exchange does not time out while the node answers those before it. */
  checkTimeout(): void {
    if (this.clock.now <= this.deadline || this.paused) return;
    if (this.wasSent) return this.fail('timeout', `no complete answer within ${this.timeoutMs} ms`);
    if (this.clock.now <= this.flow.lastProgressAt + this.timeoutMs) return;
    this.fail('timeout', `not sent: no answer to the requests before it within ${this.timeoutMs} ms`);
  }

  fail(reason: UpstreamFailure, detail: string, options?: ErrorOptions): void {
    const { consumer } = this;
    if (consumer === null) return;
    this.terminate();
    consumer.abort(new UpstreamError(reason, `${this.what}: ${detail}`, undefined, options));
  }

  begin(head: ResponseHead): void {
    const { consumer } = this;
    try {
      consumer?.begin(head);
    } catch (error) {
      this.failConsumer(consumer, error);
    }
  }

  /** While the consumer has no room, the timeout is suspended. */
  write(piece: Buffer): boolean {
    const { consumer } = this;
    this.flow.lastProgressAt = this.clock.now;
    try {
      if (consumer === null || consumer.write(piece)) return true;
    } catch (error) {
      this.failConsumer(consumer, error);
      return true;
    }
    this.paused = true;
    return false;
  }

  end(last: Buffer): void {
    const { consumer } = this;
    if (consumer === null) return; // cancelled when it began: an answer that was decompressed comes in one piece
    this.flow.lastProgressAt = this.clock.now;
    if (this.paused) this.connection?.resume(); // paused at an earlier piece; the next exchange reads from this socket
    this.finish();
    try {
      consumer.end(last);
    } catch (error) {
      this.failConsumer(consumer, error);
    }
  }

  /** Fails the request if its consumer cannot handle the answer, because others wait for the consumer. */
  private failConsumer(consumer: ResponseConsumer | null, error: unknown): void {
    if (this.consumer !== null) this.terminate();
    consumer?.abort(error instanceof UpstreamError ? error : this.defect(error));
  }

  abort(error: UpstreamError): void {
    this.connection = null; // already closed
    this.fail(error.reason, error.message, { cause: error.cause });
  }

  private defect(cause: unknown): UpstreamError {
    reportFailure('answer of the node', cause);
    return new UpstreamError('malformed', `${this.what}: the answer could not be handled`, undefined, {
      cause,
    });
  }

  /** Ends without the rest of the answer. Closes the connection first, so that the next exchange can open a new one. */
  private terminate(): void {
    this.connection?.destroy();
    this.finish();
  }

  private finish(): void {
    this.consumer = null;
    this.connection = null;
    this.onEnd(this);
  }
}
