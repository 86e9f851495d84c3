/** One answer written after the handler of its request has returned: whole, in chunks, or from a source. */
import { guarded } from '../../lib/guard.ts';
import type { HttpResponse } from '../uws.ts';
import type { Answer, AnswerOutcome } from './answer.ts';
import { type ReplyContext, writeAnswer, writeHead } from './write-answer.ts';

/**
 * The library drops a client that has made no room for 8 to 12 s. But the system may buffer 4 MB for a client and
 * reports room only once a third of that is free, so a slow client that never stops reading needs longer. We restart
 * its write timeout every 5 s, at most 10 times.
 */
const TIMEOUT_RESET_MS = 5_000;
const MAX_TIMEOUT_RESETS = 10;

/** A body that the caller writes in chunks. */
export interface ChunkWriter {
  /** Writes a chunk; the caller may reuse its memory. Returns false when the caller must wait for room. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Cuts the connection, so that the client notices that the body is incomplete. */
  abort(): void;
}

/** A body of known length, sent at the client's pace. */
export interface BodySource {
  /** Bytes not sent yet. */
  readonly left: number;
  /** The next bytes, for one turn of the event loop. Returns the same bytes until `advance`. */
  peek(): Buffer;
  /** Drops the bytes that the system accepted. */
  advance(bytes: number): void;
  /** Frees the rest. */
  discard(): void;
}

/** Status and headers of an answer. */
type Head = Omit<Answer, 'body'>;

/**
 * - `pending`: nothing is written yet.
 * - `streaming`: the caller writes chunks.
 * - `ending`: all chunks are written; the body ends when the client has made room.
 * - `chunk-due`: the next chunk of the source is written in the next turn of the event loop.
 * - `blocked`: the next chunk of the source is written when the client has made room.
 * - `settled`: answered, or the client left.
 *
 * A reply moves down this list; `chunk-due` and `blocked` alternate. Every state may go to `settled`.
 */
type ReplyState = 'pending' | 'streaming' | 'ending' | 'chunk-due' | 'blocked' | 'settled';

/** A class instead of closures, because every call to `/rpc` creates one. */
export class DeferredReply {
  private readonly context: ReplyContext;
  private readonly res: HttpResponse;
  private readonly onAnswered: (answer: AnswerOutcome) => void;
  private state: ReplyState = 'pending';
  private source: BodySource | null = null;
  /** Whether the library has corked the socket: true inside a callback for a request or its body. */
  private isCorked = false;
  /** Runs while the client must make room. */
  private timeoutResetTimer: NodeJS.Timeout | null = null;

  /** See `ReplyWriter.defer` for the parameters. */
  constructor(
    context: ReplyContext,
    res: HttpResponse,
    onAnswered: (answer: AnswerOutcome) => void,
    onAborted: () => void,
  ) {
    this.context = context;
    this.res = res;
    this.onAnswered = onAnswered;
    context.pending++;
    res.onAborted(() => {
      if (!this.settle()) return;
      this.source?.discard();
      onAborted();
    });
  }

  /** Writes the answer. Does nothing if the client has disconnected. */
  send(answer: Answer): void {
    if (!this.settle()) return;
    this.onAnswered(answer);
    if (this.isCorked) writeAnswer(this.res, answer, this.context);
    else this.res.cork(() => writeAnswer(this.res, answer, this.context));
  }

  /** Sends the answer when the promise resolves, a 500 when it rejects. */
  sendResolved(answer: Promise<Answer>): void {
    answer.then(
      (given) => this.send(given),
      (error: unknown) => this.send(this.context.failure(error)),
    );
  }

  /** Runs part of a handler. An error it throws becomes a 500, or cuts an answer that has begun. */
  guard(part: () => void): void {
    try {
      part();
    } catch (error) {
      const answer = this.context.failure(error);
      if (this.state === 'pending') this.send(answer);
      else if (this.state !== 'settled') this.res.close();
    }
  }

  /** `guard` for a handler that the library calls, of a request or its body, with the socket corked. */
  guardHandler(part: () => void): void {
    this.isCorked = true;
    try {
      this.guard(part);
    } finally {
      this.isCorked = false;
    }
  }

  /**
   * Starts an answer whose body comes in chunks. After `write` returned false, calls `onDrain` when there is room
   * again.
   */
  beginStream(head: Head, onDrain: () => void): ChunkWriter {
    if (this.state !== 'settled') {
      this.state = 'streaming';
      this.res.cork(() => writeHead(this.res, head));
      this.res.onWritable(() => {
        this.stopTimeoutResets();
        if (this.state === 'ending') this.endStream(head);
        else if (this.state === 'streaming') this.guard(onDrain);
        return true;
      });
    }
    return {
      write: (chunk) => this.writeToStream(chunk),
      end: () => {
        const mustWait = this.timeoutResetTimer !== null; // an ended answer gets no further resets
        if (mustWait && this.state === 'streaming') this.state = 'ending';
        else if (!mustWait) this.endStream(head);
      },
      abort: () => this.finish(head, () => this.res.close()),
    };
  }

  /** Sends a non-empty body, one chunk per turn of the event loop, and finally discards it. */
  sendSource(head: Head, source: BodySource): void {
    if (this.state === 'settled') return source.discard();
    this.source = source;
    const bytes = source.left;
    this.res.onWritable(() => {
      this.stopTimeoutResets();
      return this.state === 'chunk-due' || this.writeChunk(head, source, bytes);
    });
    this.res.cork(() => {
      writeHead(this.res, head);
      if (this.context.closing) this.res.writeHeader('Connection', 'close');
      this.writeChunk(head, source, bytes);
    });
  }

  /** Returns false when the client must make room first. */
  private writeToStream(chunk: Buffer): boolean {
    if (this.state === 'settled') return true;
    let room = true;
    this.res.cork(() => {
      room = this.res.write(chunk);
    });
    if (!room) this.startTimeoutResets();
    return room;
  }

  private endStream(head: Head): void {
    const close = head.close === true || this.context.closing;
    this.finish(head, () => this.res.cork(() => this.res.end(undefined, close)));
  }

  /**
   * Writes no more than the system accepts, so the library buffers nothing. Returns false when the client must make
   * room first. Leaves the next chunk to another turn of the event loop, so that other clients are served in between.
   */
  private writeChunk(head: Head, source: BodySource, bytes: number): boolean {
    if (this.state === 'settled') return true;
    const before = this.res.getWriteOffset();
    const [room, done] = this.res.tryEnd(source.peek(), bytes);
    if (done) {
      source.discard();
      this.finish(head, () => undefined);
      return true;
    }
    source.advance(this.res.getWriteOffset() - before);
    if (room) {
      this.state = 'chunk-due';
      setImmediate(() =>
        this.guard(() => {
          if (this.state !== 'settled') this.res.cork(() => this.writeChunk(head, source, bytes));
        }),
      );
    } else {
      this.state = 'blocked';
      this.startTimeoutResets();
    }
    return room;
  }

  private startTimeoutResets(): void {
    let times = 0;
    const reset = guarded('write timeout', () => {
      if (++times > MAX_TIMEOUT_RESETS) return this.stopTimeoutResets();
      this.res.pause();
      this.res.resume(); // the library's only call that restarts the timeout
    });
    this.timeoutResetTimer ??= setInterval(reset, TIMEOUT_RESET_MS);
  }

  private stopTimeoutResets(): void {
    if (this.timeoutResetTimer !== null) clearInterval(this.timeoutResetTimer);
    this.timeoutResetTimer = null;
  }

  private finish(head: Head, lastWrite: () => void): void {
    if (!this.settle()) return;
    this.onAnswered(head);
    lastWrite();
  }

  /** Returns false if the reply was already settled. */
  private settle(): boolean {
    if (this.state === 'settled') return false;
    this.state = 'settled';
    this.context.pending--;
    this.stopTimeoutResets();
    return true;
  }
}
