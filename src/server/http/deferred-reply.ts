/** One answer written after the handler of its request has returned: whole, in pieces, or a large one in chunks. */
import type { LargeAnswer } from '../../gateway/large-answer.ts';
import type { ByteConsumer, ByteSource } from '../../lib/byte-stream.ts';
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

/** Status and headers of an answer. */
type Head = Omit<Answer, 'body'>;

/**
 * - `pending`: nothing is written yet.
 * - `streaming`: the caller writes pieces.
 * - `ending`: all pieces are written; the body ends when the client has made room.
 * - `chunk-due`: the next chunk of the large answer is written in the next turn of the event loop.
 * - `blocked`: the next chunk of the large answer is written when the client has made room.
 * - `settled`: answered, or the client left.
 *
 * A reply moves down this list; `chunk-due` and `blocked` alternate. Every state may go to `settled`.
 */
type ReplyState = 'pending' | 'streaming' | 'ending' | 'chunk-due' | 'blocked' | 'settled';

/** A class instead of closures, because every call to `/rpc` creates one. */
export class DeferredReply implements Omit<ByteConsumer, 'begin'> {
  private readonly context: ReplyContext;
  private readonly res: HttpResponse;
  private readonly onAnswered: (answer: AnswerOutcome) => void;
  private state: ReplyState = 'pending';
  /** Of an answer that is written over several turns. */
  private head: Head | null = null;
  private large: LargeAnswer | null = null;
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
      this.large?.discard();
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
      this.fail(error);
    }
  }

  /** `guard` for the handler of a request, which the library calls with the socket corked. */
  guardHandler(part: () => void): void {
    this.guardBodyHandler(part, null);
  }

  /** `guardHandler` for the handler of a body. Takes the body too, to spare each request a closure. */
  guardBodyHandler<T>(part: (body: T) => void, body: T): void {
    this.isCorked = true;
    try {
      part(body);
    } catch (error) {
      this.fail(error);
    } finally {
      this.isCorked = false;
    }
  }

  private fail(error: unknown): void {
    const answer = this.context.failure(error);
    if (this.state === 'pending') this.send(answer);
    else if (this.state !== 'settled') this.res.close();
  }

  /** Starts an answer whose body comes in pieces. Resumes the source when there is room again. */
  begin(head: Head, source: Pick<ByteSource, 'resume'>): void {
    if (this.state === 'settled') return;
    this.state = 'streaming';
    this.head = head;
    this.res.cork(() => writeHead(this.res, head));
    this.res.onWritable(() => {
      this.stopTimeoutResets();
      if (this.state === 'ending') this.endStream();
      else if (this.state === 'streaming') this.guard(() => source.resume());
      return true;
    });
  }

  write(piece: Buffer): boolean {
    if (this.state !== 'streaming') return true;
    let room = true;
    this.res.cork(() => {
      room = this.res.write(piece);
    });
    if (!room) this.startTimeoutResets();
    return room;
  }

  end(last: Buffer): void {
    if (this.state !== 'streaming') return;
    if (last.length > 0) this.write(last);
    if (this.timeoutResetTimer === null) this.endStream();
    else this.state = 'ending'; // an ended answer gets no further resets
  }

  /** Cuts the connection, so that the client notices that the body is incomplete. */
  abort(): void {
    this.finish(() => this.res.close());
  }

  /** Sends a large answer at the client's pace, one chunk per turn of the event loop, and finally discards it. */
  sendLarge(head: Head, large: LargeAnswer): void {
    if (this.state === 'settled') return large.discard();
    this.head = head;
    this.large = large;
    const bytes = large.left;
    this.res.onWritable(() => {
      this.stopTimeoutResets();
      return this.state === 'chunk-due' || this.writeChunk(large, bytes);
    });
    this.res.cork(() => {
      writeHead(this.res, head);
      if (this.context.closing) this.res.writeHeader('Connection', 'close');
      this.writeChunk(large, bytes);
    });
  }

  private endStream(): void {
    const close = this.head?.close === true || this.context.closing;
    this.finish(() => this.res.cork(() => this.res.end(undefined, close)));
  }

  /**
   * Writes no more than the system accepts, so the library buffers nothing. Returns false when the client must make
   * room first. Leaves the next chunk to another turn of the event loop, so that other clients are served in between.
   */
  private writeChunk(large: LargeAnswer, bytes: number): boolean {
    if (this.state === 'settled') return true;
    const before = this.res.getWriteOffset();
    const [room, done] = this.res.tryEnd(large.peek(), bytes);
    if (done) {
      large.discard();
      this.finish(() => undefined);
      return true;
    }
    large.advance(this.res.getWriteOffset() - before);
    if (room) {
      this.state = 'chunk-due';
      setImmediate(() =>
        this.guard(() => {
          if (this.state !== 'settled') this.res.cork(() => this.writeChunk(large, bytes));
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

  private finish(lastWrite: () => void): void {
    const { head } = this;
    if (head === null || !this.settle()) return;
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
