/** Closes resources in reverse order of opening. */
export class CleanupStack {
  private readonly closers: (() => unknown)[] = [];
  private closing: Promise<void> | undefined;

  /** Registers how to close a resource (`close` may return a promise). Returns the resource. */
  adopt<T>(opened: T, close: (opened: T) => unknown): T {
    this.closers.push(() => close(opened));
    return opened;
  }

  /**
   * Closes everything, last opened first. Continues after a failure and throws the first error at the end. Further
   * calls wait for the same close.
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
