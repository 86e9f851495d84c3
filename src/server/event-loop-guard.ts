/** Detects requests or messages that monopolise the event loop. */

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
