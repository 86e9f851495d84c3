/** Collects configuration mistakes, so that all of them are reported at once. */
import { ConfigError } from '../lib/errors.ts';

export class Mistakes {
  private readonly errors: ConfigError[] = [];

  /** Runs `work`; a ConfigError becomes a mistake, and the result is undefined. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.errors.push(error);
      return undefined;
    }
  }

  /** Throws one ConfigError with all mistakes. */
  throwIfAny(): void {
    if (this.errors.length > 0) throw new ConfigError(this.errors.flatMap(({ mistakes }) => mistakes));
  }
}
