/** Time for everything, milliseconds. */
const CLOSE_MS = 10_000;
/** Time for each resource, milliseconds, also when those before it used up all. */
const MIN_LEFT_MS = 500;

/**
 * `at once`: nothing that closes before needs it, so it starts to close with the first; what was opened before still
 * waits for it.
 */
type Turn = 'in turn' | 'at once';

interface Closer {
  turn: Turn;
  close(leftMs: number): unknown;
}

/** Closes resources in reverse order of opening. */
export class CleanupStack {
  private readonly closers: Closer[] = [];
  private closing: Promise<void> | undefined;

  /**
   * Registers how to close a resource (`close` may return a promise, and gets the milliseconds left for it). Returns
   * the resource.
   */
  adopt<T>(opened: T, close: (opened: T, leftMs: number) => unknown, turn: Turn = 'in turn'): T {
    this.closers.push({ turn, close: (leftMs) => close(opened, leftMs) });
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
    const start = async ({ close }: Closer): Promise<void> => {
      try {
        await close(Math.max(MIN_LEFT_MS, deadline - performance.now()));
      } catch (error) {
        errors.push(error);
      }
    };
    const last = this.closers.reverse();
    const begun = new Map(
      last.filter(({ turn }) => turn === 'at once').map((closer) => [closer, start(closer)]),
    );
    for (const closer of last) await (begun.get(closer) ?? start(closer));
    if (errors.length > 0) throw errors[0];
  }
}
