/** Answers requests, at once or later, and counts the pending answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log/logger.ts';
import { EventLoopGuard } from '../event-loop-guard.ts';
import type { HttpResponse } from '../uws.ts';
import { type Answer, errorAnswer, internalError } from './answer.ts';
import { DeferredReply } from './deferred-reply.ts';
import { type ReplyContext, writeAnswer } from './write-answer.ts';

/** How often a closing server checks whether the last deferred answer is sent, milliseconds. */
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
   * Answers within the handler of the request, where the socket is already corked, and returns the status. The library
   * ends the process when a handler leaves a request unanswered, so a `respond` that throws becomes a 500.
   */
  sendNow(res: HttpResponse, respond: () => Answer): Answer['status'] {
    const answer = this.answerOf(respond);
    writeAnswer(res, answer, this.context);
    return answer.status;
  }

  /**
   * Answers within the handler of the request, or later when `respond` returns a promise. Calls `onAnswered` with the
   * status when the answer is ready, but not when the client leaves first.
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
      writeAnswer(res, answer, this.context);
    }
  }

  /**
   * Must be called in the handler of a request that is answered later. Calls either `onAnswered` or `onAborted`, once:
   * `onAnswered` when the answer is ready, before it is written. The time of writing is not measured: small answers leave
   * after the handler anyway, and a client woken by a large one may take the CPU, which would count as latency.
   */
  defer(res: HttpResponse, onAnswered: (status: number) => void, onAborted: () => void): DeferredReply {
    return new DeferredReply(this.context, res, onAnswered, onAborted);
  }

  /** From now on closes each connection after its answer. */
  closeAfterAnswers(): void {
    this.context.closing = true;
  }

  /** Resolves when no answer is pending, after `timeoutMs` at most. */
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
