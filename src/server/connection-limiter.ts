/**
 * Limits open connections. Each costs a file descriptor, and the library waits ten seconds for its first request:
 * without a limit, a flood would exhaust the descriptors that the database and the node connections need.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RepeatLimit } from '../lib/limits.ts';
import type { Logger } from '../log/logger.ts';
import type { HttpResponse, TemplatedApp } from './uws.ts';

/** Shortest time between two log lines about a flood, milliseconds. */
const LOG_INTERVAL_MS = 60_000;

/** How often to check whether the last connection has closed, milliseconds. */
const POLL_MS = 10;

export class ConnectionLimiter {
  private readonly limit: number;
  private readonly log: Logger;
  private openCount = 0;
  private refused = 0;
  private readonly logLimit = new RepeatLimit(LOG_INTERVAL_MS);

  /** `limit`: most open connections, HTTP and WebSocket together. */
  constructor(limit: number, log: Logger) {
    this.limit = limit;
    this.log = log;
  }

  /** Counts the connections of an app and closes those beyond the limit at once. */
  attach(app: TemplatedApp): void {
    const count = (res: HttpResponse, change: number): void => {
      this.openCount += change;
      if (change < 0 || this.openCount <= this.limit) return;
      this.logRefusal();
      res.close();
    };
    app.filter((res, change) => count(res, Number(change)));
  }

  /** Call when a WebSocket closes. The library reports the end of a connection only while it is still HTTP. */
  onWebSocketClosed(): void {
    this.openCount--;
  }

  /**
   * Resolves when no connection is open, or after `timeoutMs`. Does not count time in which the event loop was blocked.
   */
  async waitUntilEmpty(timeoutMs: number): Promise<void> {
    for (let waited = 0; this.openCount > 0 && waited < timeoutMs; waited += POLL_MS) await sleep(POLL_MS);
  }

  private logRefusal(): void {
    this.refused++;
    if (!this.logLimit.allows('flood')) return;
    const { limit, refused } = this;
    this.log.warn({ limit, refused }, 'refused connections beyond server.max_connections');
  }
}
