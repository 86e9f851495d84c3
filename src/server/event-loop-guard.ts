/** Detects requests or messages that monopolise the event loop. */

/** Longest turn, in milliseconds of the thread's CPU time, so that no client is blamed for a busy machine. */
const MAX_TURN_MS = 250;
/** The clock is read once per this many calls. */
const CHECK_EVERY = 64;

/**
 * The library reads on from one connection while up to half a megabyte waits there, and serves no other: a client that
 * sends without pause would have the server to itself. The caller closes such a connection.
 */
export class EventLoopGuard {
  private calls = 0;
  private turnStart: number | null = null;

  /** Call for each request or message. Returns true when those of this turn of the event loop have taken too long. */
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
