/** Time for everything, milliseconds. */
const CLOSE_MS = 10_000;
/** Time for each resource, milliseconds, also when those before it used up all. */
const MIN_LEFT_MS = 500;

/** Closes resources in reverse order of opening. */
export class CleanupStack {
  private readonly closers: ((leftMs: number) => unknown)[] = [];
  private closing: Promise<void> | undefined;

  /**
   * Registers how to close a resource (`close` may return a promise, and gets the milliseconds left for it). Returns the
   * resource.
   */
  adopt<T>(opened: T, close: (opened: T, leftMs: number) => unknown): T {
    this.closers.push((leftMs) => close(opened, leftMs));
    return opened;
  }

  /**
   * Closes everything, last opened first. Continues after a failure and throws the first error at the end. Further
   * calls wait for the same close. What can wait is told how much is left of `limitMs`.
   */
  close(limitMs: number = CLOSE_MS): Promise<void> {
    this.closing ??= this.closeAll(performance.now() + limitMs);
    return this.closing;
  }

  private async closeAll(deadline: number): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.closers.reverse()) {
      try {
        await close(Math.max(MIN_LEFT_MS, deadline - performance.now()));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
