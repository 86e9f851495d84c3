/** What was opened, to be closed in the reverse order. */
export class CleanupStack {
  private readonly closers: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  /** Remembers how to close what was opened (`close` may return a promise); returns `opened`. */
  adopt<T>(opened: T, close: (opened: T) => unknown): T {
    this.closers.push(() => close(opened));
    return opened;
  }

  /**
   * Closes everything, the last opened first. A failure does not prevent the others from being closed; the first error
   * is thrown at the end. Calling it again waits for the same closing.
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
