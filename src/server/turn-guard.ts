/** Noticing that requests or messages hold the event loop. */

/** Longest time of a turn, milliseconds of the thread's processor time: no client is to blame for a busy machine. */
const MAX_TURN_MS = 250;
/** The clock is checked once in so many calls. */
const CHECK_EVERY = 64;

/**
 * The library keeps reading from one connection while half a megabyte waits there, and serves no other: a client that
 * sends requests or messages without end would have the server to itself. Such a connection is to be closed.
 */
export class TurnGuard {
  private calls = 0;
  private turnStart: number | null = null;

  /** Call it for each request or message. True when those of this turn of the event loop have taken too long. */
  isTooLong(): boolean {
    if (++this.calls % CHECK_EVERY !== 0) return false;
    const now = threadMs();
    if (this.turnStart !== null) return now - this.turnStart > MAX_TURN_MS;
    this.turnStart = now;
    setImmediate(() => {
      this.turnStart = null;
    });
    return false;
  }
}

/** Processor time that this thread has used. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
