/**
 * How many connections are let in. Each costs a file descriptor and up to ten seconds of the library's patience before
 * it has asked for anything; without a limit of our own, a flood would take the descriptors of the database and of the
 * connections to the node too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import type { HttpResponse, TemplatedApp } from './uws.ts';

/** A flood is told of so often, not once per connection. */
const TELL_EVERY_MS = 60_000;

/** How often it is looked whether the last connection has gone. */
const POLL_MS = 10;

export class Capacity {
  private readonly limit: number;
  private readonly log: Logger;
  private open = 0;
  private refused = 0;
  private toldAt = Number.NEGATIVE_INFINITY;

  /** `limit`: connections at the same time, HTTP and WebSocket together. */
  constructor(limit: number, log: Logger) {
    this.limit = limit;
    this.log = log;
  }

  /** Counts the connections of an app and closes at once those beyond the limit. */
  guard(app: TemplatedApp): void {
    const count = (res: HttpResponse, change: number): void => {
      this.open += change;
      if (change < 0 || this.open <= this.limit) return;
      this.tell();
      res.close();
    };
    app.filter((res, change) => count(res, Number(change)));
  }

  /** To be called when a WebSocket ends: the library tells only of the end of connections that are still HTTP. */
  left(): void {
    this.open--;
  }

  /** Resolves when no connection is open any more, at the latest after `timeoutMs` of which the event loop has seen all. */
  async empty(timeoutMs: number): Promise<void> {
    for (let waited = 0; this.open > 0 && waited < timeoutMs; waited += POLL_MS) await sleep(POLL_MS);
  }

  private tell(): void {
    this.refused++;
    const now = performance.now();
    if (now - this.toldAt < TELL_EVERY_MS) return;
    this.toldAt = now;
    const { limit, refused } = this;
    this.log.warn({ limit, refused }, 'connections beyond server.max_connections are refused');
  }
}
