/** Writing answers to sockets. The one place that knows the rules of uWebSockets.js about when and how. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, STATUS_LINES } from './answer.ts';
import type { HttpResponse } from './uws.ts';

const CACHE_CONTROL = {
  revalidate: 'private, max-age=0, must-revalidate',
  'no-store': 'no-store',
} as const;

/** How often a closing server looks whether the last late answer is out. */
const DRAIN_POLL_MS = 10;

/** Writes answers and keeps track of those still owed. */
export class Replies {
  private owed = 0;
  private closing = false;

  /** Answers within the handler of the request, where the socket is corked already. */
  now(res: HttpResponse, answer: Answer): void {
    this.write(res, answer);
  }

  /**
   * Must be called in the handler of a request that is answered after the handler returned. The function it gives
   * writes the answer, or does nothing when the client has gone; `onGone` is called once when the client goes first.
   */
  later(res: HttpResponse, onGone: () => void): (answer: Answer) => void {
    let open = true;
    this.owed++;
    const settle = () => {
      open = false;
      this.owed--;
    };
    res.onAborted(() => {
      if (!open) return;
      settle();
      onGone();
    });
    return (answer) => {
      if (!open) return;
      settle();
      res.cork(() => this.write(res, answer));
    };
  }

  /** From now on connections close behind their answers. Resolves when none is owed any more, after `timeoutMs` at most. */
  async drain(timeoutMs: number): Promise<void> {
    this.closing = true;
    const deadline = performance.now() + timeoutMs;
    while (this.owed > 0 && performance.now() < deadline) await sleep(DRAIN_POLL_MS);
  }

  /**
   * All header lines go out in one call, as the value of the first: each call into the library costs 0.15 us, and an
   * answer has nine lines.
   */
  private write(res: HttpResponse, { status, lines, body, cache, close }: Answer): void {
    const last = (close ?? false) || this.closing;
    if (status !== 200) res.writeStatus(STATUS_LINES[status]);
    res.writeHeader('Cache-Control', CACHE_CONTROL[cache] + lines);
    if (body === null) res.endWithoutBody(undefined, last);
    else res.end(body, last);
  }
}
