/** What was opened, to be closed in the reverse order. */
export class Closers {
  private readonly closers: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  /** Remembers how to close what was opened, which may take a promise; gives it back. */
  keep<T>(opened: T, close: (opened: T) => unknown): T {
    this.closers.push(() => close(opened));
    return opened;
  }

  /**
   * Closes everything, the last opened first; a failing one does not keep the others from being closed, and the first
   * error is thrown in the end. Calling it again waits for the same closing.
   */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.closers.reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
