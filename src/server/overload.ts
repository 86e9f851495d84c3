/** Protects the server from floods: limits open connections, and detects clients that monopolise the event loop. */

import { setTimeout as sleep } from 'node:timers/promises';
import { RepeatLimit } from '../lib/limits.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Logger } from '../log/logger.ts';
import type { HttpResponse, TemplatedApp } from './uws.ts';

/** Shortest time between two log lines about a flood, milliseconds. */
const LOG_INTERVAL_MS = 60_000;

/** How often to check whether the last connection has closed, milliseconds. */
const POLL_MS = 10;

/**
 * Limits open connections. Each costs a file descriptor, and the library waits ten seconds for its first request:
 * without a limit, a flood would exhaust the descriptors that the database and the node connections need.
 */
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
    this.log.warn(
      { limit, setting: settingName('server.max_connections'), refused },
      'refused connections beyond server.max_connections',
    );
  }
}

/** Longest turn, in milliseconds of the thread's CPU time, so that a busy machine gets no client closed. */
const MAX_TURN_MS = 250;
/** Reads the clock once per this many calls. */
const CHECK_EVERY = 64;

/**
 * The library keeps reading from one connection while up to half a megabyte is waiting there, and serves no other. A
 * client that sends without pause would monopolise the server. The caller closes such a connection.
 */
export class EventLoopGuard {
  private calls = 0;
  private turnStart: number | null = null;

  /** Call for each request or message. Returns true when those handled in this turn of the event loop took too long. */
  isTooLong(): boolean {
    if (++this.calls % CHECK_EVERY !== 0) return false;
    const now = threadCpuMs();
    if (this.turnStart !== null) return now - this.turnStart > MAX_TURN_MS;
    this.turnStart = now;
    setImmediate(() => {
      this.turnStart = null;
    });
    return false;
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
