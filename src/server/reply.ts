/** Writing answers to sockets. The one place that knows when and how uWebSockets.js allows it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Answer, errorAnswer, internalError, STATUS_LINES } from './answer.ts';
import type { HttpResponse } from './uws.ts';

const CACHE_CONTROL = {
  revalidate: 'private, max-age=0, must-revalidate',
  'no-store': 'no-store',
} as const;

/** How often a closing server checks whether the last late answer is sent, milliseconds. */
const DRAIN_POLL_MS = 10;

/**
 * The library keeps reading from one connection while half a megabyte waits there, and serves no other: a client that
 * pipelines requests would have the server to itself. When the event loop has been blocked for so many milliseconds, the
 * connection is closed after its answer. The clock is checked once in so many answers.
 */
const MOST_HELD_MS = 250;
const LOOK_EVERY = 64;

/**
 * The library gives up a client that has not made room for 8 to 12 seconds. The system may hold four megabytes for one,
 * and tells of room only when a third of them has gone, for which a slow one that never stops reading needs longer. So
 * its time begins anew so often, milliseconds, as many times.
 */
const PATIENCE_EVERY_MS = 5_000;
const PATIENCE_TIMES = 10;

/** A body that comes in pieces. */
export interface Pieces {
  /** Writes a piece, whose memory may be reused. Returns false when the client must catch up first. */
  write(piece: Buffer): boolean;
  end(): void;
  /** Cuts the connection, so that the client notices that the body is incomplete. */
  cut(): void;
}

/** An answer given after the handler of its request has returned. */
export interface LateReply {
  /** Writes the answer, or does nothing when the client has left. */
  send(answer: Answer): void;
  /** Begins an answer with a body in pieces. After `write` returned false, `caughtUp` is called when it may continue. */
  begin(answer: Omit<Answer, 'body'>, caughtUp: () => void): Pieces;
  /** Sends what the promise gives; if it rejects, the answer is a 500. */
  sendWhen(answer: Promise<Answer>): void;
  /** Runs a part of the handling; if it throws, the answer is a 500. */
  attempt(part: () => void): void;
}

/** Writes answers and counts the pending ones. */
export class Replies {
  private readonly log: Logger;
  private readonly writing: Writing;

  constructor(log: Logger) {
    this.log = log;
    this.writing = {
      owed: 0,
      closing: false,
      answers: 0,
      heldSince: null,
      failure: (error) => this.failure(error),
    };
  }

  /**
   * Answers within the handler of the request, where the socket is already corked, and returns the status. The library
   * ends the process when a handler leaves a request unanswered, so a `respond` that throws becomes a 500.
   */
  now(res: HttpResponse, respond: () => Answer): Answer['status'] {
    let answer: Answer;
    try {
      answer = respond();
    } catch (error) {
      answer = this.failure(error);
    }
    writeAnswer(res, answer, this.writing);
    return answer.status;
  }

  /**
   * Answers within the handler of the request, or later when `respond` returns a promise; `answered` is called with the
   * status when the answer is ready, but not when the client leaves first.
   */
  nowOrLater(
    res: HttpResponse,
    respond: () => Answer | Promise<Answer>,
    answered: (status: number) => void,
  ): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = respond();
    } catch (error) {
      answer = this.failure(error);
    }
    if (answer instanceof Promise) this.later(res, answered, () => undefined).sendWhen(answer);
    else {
      answered(answer.status);
      writeAnswer(res, answer, this.writing);
    }
  }

  /**
   * Must be called in the handler of a request that is answered later. Either `answered` or `gone` is called, once:
   * `answered` when the answer is ready, before it is written. Writing is not measured: small answers leave after the
   * handler anyway, and a client that a large one wakes may take the processor, which would count as its waiting time.
   */
  later(res: HttpResponse, answered: (status: number) => void, gone: () => void): LateReply {
    return new Late(this.writing, res, answered, gone);
  }

  /** From now on each connection is closed after its answer. */
  closeBehind(): void {
    this.writing.closing = true;
  }

  /** Closes connections after their answers. Resolves when none is pending, after `timeoutMs` at most. */
  async drain(timeoutMs: number): Promise<void> {
    this.closeBehind();
    const deadline = performance.now() + timeoutMs;
    while (this.writing.owed > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  private failure(error: unknown): Answer {
    this.log.error({ err: error }, 'request failed');
    return errorAnswer(internalError(), '');
  }
}

/** State shared by all answers. */
interface Writing {
  /** Pending answers: late ones, and those not yet written completely. */
  owed: number;
  /** Whether connections are closed after their answers. */
  closing: boolean;
  /** Answers written completely. */
  answers: number;
  /** performance.now() since when the event loop has been blocked; null when it has turned since the last check. */
  heldSince: number | null;
  failure: (error: unknown) => Answer;
}

/** A class instead of closures, since one is made for every call to `/rpc`. */
class Late implements LateReply {
  private readonly writing: Writing;
  private readonly res: HttpResponse;
  private readonly answered: (status: number) => void;
  private open = true;
  /** Runs while the client has to make room. */
  private patience: NodeJS.Timeout | null = null;
  /** What is left to be done once it has. */
  private last: (() => void) | null = null;

  constructor(writing: Writing, res: HttpResponse, answered: (status: number) => void, gone: () => void) {
    this.writing = writing;
    this.res = res;
    this.answered = answered;
    writing.owed++;
    res.onAborted(() => {
      if (this.settle()) gone();
    });
  }

  send(answer: Answer): void {
    if (!this.settle()) return;
    this.answered(answer.status);
    this.res.cork(() => writeAnswer(this.res, answer, this.writing));
  }

  begin(answer: Omit<Answer, 'body'>, caughtUp: () => void): Pieces {
    if (this.open) {
      this.res.cork(() => writeHead(this.res, answer));
      this.res.onWritable(() => {
        this.stopWaiting();
        if (this.last !== null) this.last();
        else if (this.open) caughtUp();
        return true;
      });
    }
    return {
      write: (piece) => this.write(piece),
      end: () => this.whenRoom(() => this.finish(answer, () => this.end(answer))),
      cut: () => this.finish(answer, () => this.res.close()),
    };
  }

  sendWhen(answer: Promise<Answer>): void {
    answer.then(
      (given) => this.send(given),
      (error: unknown) => this.send(this.writing.failure(error)),
    );
  }

  attempt(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.send(this.writing.failure(error));
    }
  }

  /** Whether the client has room for more. */
  private write(piece: Buffer): boolean {
    let room = true;
    if (this.open) {
      this.res.cork(() => {
        room = this.res.write(piece);
      });
    }
    if (!room) this.wait();
    return room;
  }

  private wait(): void {
    let times = 0;
    this.patience ??= setInterval(() => {
      if (++times > PATIENCE_TIMES) return this.stopWaiting();
      this.res.pause();
      this.res.resume(); // of all that the library offers this alone begins the time anew
    }, PATIENCE_EVERY_MS);
  }

  private stopWaiting(): void {
    if (this.patience !== null) clearInterval(this.patience);
    this.patience = null;
  }

  /** Nothing can be done for an answer that the library has as a whole: it is ended when what was written is out. */
  private whenRoom(last: () => void): void {
    if (this.patience === null) last();
    else this.last = last;
  }

  private finish({ status }: Omit<Answer, 'body'>, last: () => void): void {
    if (!this.settle()) return;
    this.answered(status);
    last();
  }

  private end({ close = false }: Omit<Answer, 'body'>): void {
    this.res.cork(() => this.res.end(undefined, close || this.writing.closing));
  }

  /** False when the answer was settled before. */
  private settle(): boolean {
    if (!this.open) return false;
    this.open = false;
    this.writing.owed--;
    this.stopWaiting();
    return true;
  }
}

function writeAnswer(res: HttpResponse, answer: Answer, writing: Writing): void {
  writeHead(res, answer);
  const { body, length } = answer;
  const close = answer.close === true || writing.closing || isHeld(writing);
  if (length !== undefined) writeLength(res, length);
  else if (body === null && !close) res.endWithoutBody();
  else if (body === null) writeLength(res, 0);
  else if (close) res.end(body, true);
  else writeBody(res, body, writing);
}

/** Whether answers have blocked the event loop for too long. */
function isHeld(writing: Writing): boolean {
  if (++writing.answers % LOOK_EVERY !== 0) return false;
  if (writing.heldSince !== null) return performance.now() - writing.heldSince > MOST_HELD_MS;
  writing.heldSince = performance.now();
  setImmediate(() => {
    writing.heldSince = null;
  });
  return false;
}

/** The library considers an answer unfinished until all announced bytes are sent, never here: the connection closes. */
function writeLength(res: HttpResponse, bytes: number): void {
  res.onAborted(() => undefined);
  res.endWithoutBody(bytes, true);
}

/**
 * Writes no more than the system accepts. The library would buffer the rest without limit, even for a client that never
 * reads; but it cuts a connection that sends a request before the previous answer is complete, and one that reads
 * nothing for ten seconds.
 */
function writeBody(res: HttpResponse, body: string | Buffer, writing: Writing): void {
  const bytes = Buffer.byteLength(body);
  if (res.tryEnd(body, bytes)[1]) return;
  writing.owed++;
  const whole = Buffer.from(body); // a copy: short answers of /rpc lie in memory that the next one overwrites
  res.onAborted(() => {
    writing.owed--;
  });
  res.onWritable((offset) => {
    const [room, done] = res.tryEnd(whole.subarray(offset), bytes);
    if (done) writing.owed--;
    return room;
  });
}

/**
 * All header lines go out in one call, as the value of the first: each call into the library costs 0.15 us, and an
 * answer has nine lines.
 */
function writeHead(res: HttpResponse, { status, lines, cache }: Omit<Answer, 'body'>): void {
  if (status !== 200) res.writeStatus(STATUS_LINES[status]);
  res.writeHeader('Cache-Control', CACHE_CONTROL[cache] + lines);
}
