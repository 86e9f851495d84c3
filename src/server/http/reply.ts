/** Answers requests, immediately or later, and counts the pending answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log/logger.ts';
import { EventLoopGuard } from '../overload.ts';
import type { HttpResponse } from '../uws.ts';
import { type Answer, type AnswerOutcome, errorAnswer, internalError } from './answer.ts';
import { DeferredReply } from './deferred-reply.ts';
import { type ReplyContext, writeAnswer } from './write-answer.ts';

/** How often a closing server checks for pending answers, milliseconds. */
const DRAIN_POLL_MS = 10;

export class ReplyWriter {
  private readonly context: ReplyContext;

  constructor(log: Logger) {
    this.context = {
      pending: 0,
      closing: false,
      eventLoopGuard: new EventLoopGuard(),
      failure(error) {
        log.error({ err: error }, 'request failed');
        return errorAnswer(internalError(), '');
      },
    };
  }

  /**
   * Answers inside the request's handler, where the socket is already corked, and returns the status. An error thrown
   * by `respond` becomes a 500, because the library ends the process when a handler leaves a request unanswered.
   */
  sendNow(res: HttpResponse, respond: () => Answer): Answer['status'] {
    const answer = this.answerOf(respond);
    writeAnswer(res, answer, this.context);
    return answer.status;
  }

  /**
   * Answers inside the request's handler, or later when `respond` returns a promise. Calls `onAnswered` when the
   * answer is ready, or `onAborted` if the client disconnects first.
   */
  sendOrDefer(
    res: HttpResponse,
    respond: () => Answer | Promise<Answer>,
    onAnswered: (answer: AnswerOutcome) => void,
    onAborted: () => void = () => undefined,
  ): void {
    const answer = this.answerOf(respond);
    if (answer instanceof Promise) this.defer(res, onAnswered, onAborted).sendResolved(answer);
    else {
      onAnswered(answer);
      writeAnswer(res, answer, this.context);
    }
  }

  /**
   * Call it in the handler of a request that is answered later. Calls either `onAnswered` or `onAborted`, once:
   * `onAnswered` when the answer is ready, before it is written. Writing is not measured: small answers leave after the
   * handler anyway, and a client woken by a large answer may take the CPU, which would count as latency.
   */
  defer(
    res: HttpResponse,
    onAnswered: (answer: AnswerOutcome) => void,
    onAborted: () => void,
  ): DeferredReply {
    return new DeferredReply(this.context, res, onAnswered, onAborted);
  }

  /** Closes each connection after its next answer. */
  closeAfterAnswers(): void {
    this.context.closing = true;
  }

  /** Resolves when no answer is pending, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.context.pending > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  private answerOf<T>(respond: () => T): T | Answer {
    try {
      return respond();
    } catch (error) {
      return this.context.failure(error);
    }
  }
}
