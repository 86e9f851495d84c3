/** Writing answers to sockets. The one place that knows the rules of uWebSockets.js about when and how. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type Answer, errorAnswer, internalError, STATUS_LINES } from './answer.ts';
import type { HttpResponse } from './uws.ts';

const CACHE_CONTROL = {
  revalidate: 'private, max-age=0, must-revalidate',
  'no-store': 'no-store',
} as const;

/** How often a closing server looks whether the last late answer is out. */
const DRAIN_POLL_MS = 10;

/** A body that comes in pieces. */
export interface Pieces {
  /** Writes a piece, whose memory may be used again. Returns false when the client must first catch up. */
  write(piece: Buffer): boolean;
  end(): void;
  /** Breaks the connection off, which tells the client that something is missing. */
  cut(): void;
}

/** An answer that is given after the handler of its request returned. */
export interface LateReply {
  /** Writes the answer, or does nothing when the client has gone. */
  send(answer: Answer): void;
  /** Begins an answer whose body comes in pieces. `caughtUp` is called when more may be written after `write` returned false. */
  begin(answer: Omit<Answer, 'body'>, caughtUp: () => void): Pieces;
  /** Sends what the promise gives; if it rejects, the answer is a 500. */
  sendWhen(answer: Promise<Answer>): void;
  /** Runs a part of the handling; if it throws, the answer is a 500. */
  attempt(part: () => void): void;
}

/** Writes answers and keeps track of those still owed. */
export class Replies {
  private readonly log: Logger;
  private owed = 0;
  private closing = false;

  constructor(log: Logger) {
    this.log = log;
  }

  /**
   * Answers within the handler of the request, where the socket is corked already, and returns the status. The
   * library ends the process when a handler leaves a request unanswered, so a `respond` that throws is a 500.
   */
  now(res: HttpResponse, respond: () => Answer): Answer['status'] {
    let answer: Answer;
    try {
      answer = respond();
    } catch (error) {
      answer = this.failure(error);
    }
    this.write(res, answer);
    return answer.status;
  }

  /**
   * Answers within the handler of the request, or later when `respond` gives a promise; `sent` is told the status.
   * Nothing is told when the client goes first.
   */
  nowOrLater(
    res: HttpResponse,
    respond: () => Answer | Promise<Answer>,
    sent: (status: number) => void,
  ): void {
    let answer: Answer | Promise<Answer>;
    try {
      answer = respond();
    } catch (error) {
      answer = this.failure(error);
    }
    if (answer instanceof Promise) this.later(res, sent, () => undefined).sendWhen(answer);
    else {
      this.write(res, answer);
      sent(answer.status);
    }
  }

  /** Must be called in the handler of a request that is answered later. One of `sent` and `gone` is called, once. */
  later(res: HttpResponse, sent: (status: number) => void, gone: () => void): LateReply {
    let open = true;
    this.owed++;
    const settle = () => {
      open = false;
      this.owed--;
    };
    res.onAborted(() => {
      if (!open) return;
      settle();
      gone();
    });
    const send = (answer: Answer) => {
      if (!open) return;
      settle();
      res.cork(() => this.write(res, answer));
      sent(answer.status);
    };
    const sendWhen = (answer: Promise<Answer>) => {
      answer.then(send, (error: unknown) => send(this.failure(error)));
    };
    const begin = (answer: Omit<Answer, 'body'>, caughtUp: () => void): Pieces => {
      if (open) {
        res.cork(() => this.writeHead(res, answer));
        res.onWritable(() => {
          if (open) caughtUp();
          return true;
        });
      }
      const finish = (how: () => void) => {
        if (!open) return;
        settle();
        how();
        sent(answer.status);
      };
      return {
        write(piece) {
          let room = true;
          if (open) {
            res.cork(() => {
              room = res.write(piece);
            });
          }
          return room;
        },
        end: () => finish(() => res.cork(() => res.end(undefined, (answer.close ?? false) || this.closing))),
        cut: () => finish(() => res.close()),
      };
    };
    const attempt = (part: () => void) => {
      try {
        part();
      } catch (error) {
        send(this.failure(error));
      }
    };
    return { send, begin, sendWhen, attempt };
  }

  /** From now on connections close behind their answers. Resolves when none is owed any more, after `timeoutMs` at most. */
  async drain(timeoutMs: number): Promise<void> {
    this.closing = true;
    const deadline = performance.now() + timeoutMs;
    while (this.owed > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  private failure(error: unknown): Answer {
    this.log.error({ err: error }, 'request failed');
    return errorAnswer(internalError(), '');
  }

  private write(res: HttpResponse, answer: Answer): void {
    this.writeHead(res, answer);
    if (answer.body === null) res.endWithoutBody();
    else res.end(answer.body, (answer.close ?? false) || this.closing);
  }

  /**
   * All header lines go out in one call, as the value of the first: each call into the library costs 0.15 us, and an
   * answer has nine lines.
   */
  private writeHead(res: HttpResponse, { status, lines, cache }: Omit<Answer, 'body'>): void {
    if (status !== 200) res.writeStatus(STATUS_LINES[status]);
    res.writeHeader('Cache-Control', CACHE_CONTROL[cache] + lines);
  }
}
