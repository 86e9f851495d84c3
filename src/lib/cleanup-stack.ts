/** Closes resources in the reverse order of their opening. */
export class CleanupStack {
  private readonly closers: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  /** Registers how to close a resource (`close` may return a promise); returns the resource. */
  adopt<T>(opened: T, close: (opened: T) => unknown): T {
    this.closers.push(() => close(opened));
    return opened;
  }

  /**
   * Closes everything, the last opened first. A failure does not prevent the others; the first error is thrown at the
   * end. Further calls wait for the same close.
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
