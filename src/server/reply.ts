/** Writing answers to sockets. The one place that knows when and how uWebSockets.js allows it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Answer, errorAnswer, internalError, STATUS_LINES } from './answer.ts';
import { TurnGuard } from './turn-guard.ts';
import type { HttpResponse } from './uws.ts';

const CACHE_CONTROL = {
  revalidate: 'private, max-age=0, must-revalidate',
  immutable: 'private, max-age=31536000, immutable',
  'no-store': 'no-store',
} as const;

/** How often a closing server checks whether the last deferred answer is sent, milliseconds. */
const DRAIN_POLL_MS = 10;

/**
 * The library gives up a client that has made no room for 8 to 12 seconds. But the system may hold four megabytes for a
 * client and tells of room only when a third of them has gone: a slow client needs longer, though it never stops
 * reading. So its time is begun anew every so many milliseconds, a limited number of times.
 */
const TIMEOUT_RESET_MS = 5_000;
const MAX_TIMEOUT_RESETS = 10;

/** A body that is written in chunks. */
export interface ChunkWriter {
  /** Writes a chunk, whose memory may be reused. Returns false when the client must catch up first. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** Cuts the connection, so that the client notices that the body is incomplete. */
  abort(): void;
}

/** An answer given after the handler of its request has returned. */
export interface DeferredReply {
  /** Writes the answer, or does nothing when the client has left. */
  send(answer: Answer): void;
  /** Begins an answer with a body in chunks. After `write` returned false, `onDrain` is called when it may continue. */
  beginStream(answer: Omit<Answer, 'body'>, onDrain: () => void): ChunkWriter;
  /** Sends what the promise gives; if it rejects, the answer is a 500. */
  sendResolved(answer: Promise<Answer>): void;
  /** Runs a part of the handling; if it throws, the answer is a 500. */
  guard(part: () => void): void;
}

/** Writes answers and counts the pending ones. */
export class ReplyWriter {
  private readonly log: Logger;
  private readonly state: WriterState;

  constructor(log: Logger) {
    this.log = log;
    this.state = {
      pending: 0,
      closing: false,
      turns: new TurnGuard(),
      failure: (error) => this.failure(error),
    };
  }

  /**
   * Answers within the handler of the request, where the socket is already corked, and returns the status. The library
   * ends the process when a handler leaves a request unanswered, so a `respond` that throws becomes a 500.
   */
  sendNow(res: HttpResponse, respond: () => Answer): Answer['status'] {
    const answer = this.answerOf(respond);
    writeAnswer(res, answer, this.state);
    return answer.status;
  }

  /**
   * Answers within the handler of the request, or later when `respond` returns a promise; `onAnswered` is called with
   * the status when the answer is ready, but not when the client leaves first.
   */
  sendOrDefer(
    res: HttpResponse,
    respond: () => Answer | Promise<Answer>,
    onAnswered: (status: number) => void,
  ): void {
    const answer = this.answerOf(respond);
    if (answer instanceof Promise) this.defer(res, onAnswered, () => undefined).sendResolved(answer);
    else {
      onAnswered(answer.status);
      writeAnswer(res, answer, this.state);
    }
  }

  /**
   * Must be called in the handler of a request that is answered later. Either `onAnswered` or `onAborted` is called,
   * once: `onAnswered` when the answer is ready, before it is written. Writing is not measured: small answers leave
   * after the handler anyway, and a client that a large one wakes may take the processor, which would count as its
   * waiting time.
   */
  defer(res: HttpResponse, onAnswered: (status: number) => void, onAborted: () => void): DeferredReply {
    return new DeferredReplyWriter(this.state, res, onAnswered, onAborted);
  }

  /** From now on each connection is closed after its answer. */
  closeAfterAnswers(): void {
    this.state.closing = true;
  }

  /** Resolves when no answer is pending, after `timeoutMs` at most. */
  async drain(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.state.pending > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  private answerOf<T>(respond: () => T): T | Answer {
    try {
      return respond();
    } catch (error) {
      return this.failure(error);
    }
  }

  private failure(error: unknown): Answer {
    this.log.error({ err: error }, 'request failed');
    return errorAnswer(internalError(), '');
  }
}

/** State shared by all answers. */
interface WriterState {
  /** Pending answers: deferred ones, and those not yet written completely. */
  pending: number;
  /** Whether connections are closed after their answers. */
  closing: boolean;
  readonly turns: TurnGuard;
  failure: (error: unknown) => Answer;
}

/** A class instead of closures, since one is made for every call to `/rpc`. */
class DeferredReplyWriter implements DeferredReply {
  private readonly state: WriterState;
  private readonly res: HttpResponse;
  private readonly onAnswered: (status: number) => void;
  private open = true;
  /** Runs while the client has to make room. */
  private timeoutResetTimer: NodeJS.Timeout | null = null;
  /** What is left to be done once it has. */
  private finalStep: (() => void) | null = null;

  constructor(
    state: WriterState,
    res: HttpResponse,
    onAnswered: (status: number) => void,
    onAborted: () => void,
  ) {
    this.state = state;
    this.res = res;
    this.onAnswered = onAnswered;
    state.pending++;
    res.onAborted(() => {
      if (this.settle()) onAborted();
    });
  }

  send(answer: Answer): void {
    if (!this.settle()) return;
    this.onAnswered(answer.status);
    this.res.cork(() => writeAnswer(this.res, answer, this.state));
  }

  beginStream(answer: Omit<Answer, 'body'>, onDrain: () => void): ChunkWriter {
    if (this.open) {
      this.res.cork(() => writeHead(this.res, answer));
      this.res.onWritable(() => {
        this.stopTimeoutResets();
        if (this.finalStep !== null) this.finalStep();
        else if (this.open) onDrain();
        return true;
      });
    }
    return {
      write: (chunk) => this.write(chunk),
      end: () => this.whenDrained(() => this.finish(answer, () => this.end(answer))),
      abort: () => this.finish(answer, () => this.res.close()),
    };
  }

  sendResolved(answer: Promise<Answer>): void {
    answer.then(
      (given) => this.send(given),
      (error: unknown) => this.send(this.state.failure(error)),
    );
  }

  guard(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.send(this.state.failure(error));
    }
  }

  /** Whether the client has room for more. */
  private write(chunk: Buffer): boolean {
    let room = true;
    if (this.open) {
      this.res.cork(() => {
        room = this.res.write(chunk);
      });
    }
    if (!room) this.startTimeoutResets();
    return room;
  }

  private startTimeoutResets(): void {
    let times = 0;
    this.timeoutResetTimer ??= setInterval(() => {
      if (++times > MAX_TIMEOUT_RESETS) return this.stopTimeoutResets();
      this.res.pause();
      this.res.resume(); // of all that the library offers this alone begins the time anew
    }, TIMEOUT_RESET_MS);
  }

  private stopTimeoutResets(): void {
    if (this.timeoutResetTimer !== null) clearInterval(this.timeoutResetTimer);
    this.timeoutResetTimer = null;
  }

  /** Nothing can be done for an answer that the library has as a whole: it is ended when what was written is out. */
  private whenDrained(finalStep: () => void): void {
    if (this.timeoutResetTimer === null) finalStep();
    else this.finalStep = finalStep;
  }

  private finish({ status }: Omit<Answer, 'body'>, finalStep: () => void): void {
    if (!this.settle()) return;
    this.onAnswered(status);
    finalStep();
  }

  private end({ close = false }: Omit<Answer, 'body'>): void {
    this.res.cork(() => this.res.end(undefined, close || this.state.closing));
  }

  /** False when the answer was settled before. */
  private settle(): boolean {
    if (!this.open) return false;
    this.open = false;
    this.state.pending--;
    this.stopTimeoutResets();
    return true;
  }
}

function writeAnswer(res: HttpResponse, answer: Answer, state: WriterState): void {
  writeHead(res, answer);
  const { body, contentLength } = answer;
  const close = answer.close === true || state.closing || state.turns.isTooLong();
  if (contentLength !== undefined && contentLength > 0) writeLength(res, contentLength);
  else if (close) res.end(body ?? undefined, true);
  else if (body === null) res.endWithoutBody();
  else writeBody(res, body, state);
}

/**
 * The announced bytes never follow, so to the library the answer stays unfinished: it cuts a connection that sends
 * another request, and keeps any other open without end. So the connection is closed here once the answer is out, which
 * is after the handler.
 */
function writeLength(res: HttpResponse, bytes: number): void {
  let open = true;
  res.onAborted(() => {
    open = false;
  });
  res.writeHeader('Connection', 'close');
  res.tryEnd('', bytes);
  setImmediate(() => {
    if (open) res.close();
  });
}

/**
 * Writes no more than the system accepts. The library would buffer the rest without limit, even for a client that never
 * reads; but it cuts a connection that sends a request before the previous answer is complete, and one that reads
 * nothing for ten seconds.
 */
function writeBody(res: HttpResponse, body: string | Buffer, state: WriterState): void {
  const bytes = Buffer.byteLength(body);
  if (res.tryEnd(body, bytes)[1]) return;
  state.pending++;
  const whole = Buffer.from(body); // a copy: short answers of /rpc lie in memory that the next one overwrites
  res.onAborted(() => {
    state.pending--;
  });
  res.onWritable((offset) => {
    const [room, done] = res.tryEnd(whole.subarray(offset), bytes);
    if (done) state.pending--;
    return room;
  });
}

/**
 * All headers go out in one call, as the value of the first: each call into the library costs 0.15 us, and an
 * answer has nine.
 */
function writeHead(res: HttpResponse, { status, headers, cache }: Omit<Answer, 'body'>): void {
  if (status !== 200) res.writeStatus(STATUS_LINES[status]);
  res.writeHeader('Cache-Control', CACHE_CONTROL[cache] + headers);
}
