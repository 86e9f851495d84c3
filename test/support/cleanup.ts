/** Closes resources opened by a test. */
import { after } from 'node:test';
import { CleanupStack } from '../../src/lib/cleanup-stack.ts';

type Close = () => void | Promise<void>;

/** The `after` of a test, a suite or a script. */
export interface Cleanup {
  after(close: Close): void;
}

/** Closes in reverse order of opening, and continues when closing something fails. For scripts: closes when told. */
export function scriptCleanup(): Cleanup & { close(): Promise<void> } {
  const closers = new CleanupStack();
  return { after: (close) => void closers.adopt(null, close), close: () => closers.close() };
}

/** The same, closed with a test. */
export function nestedCleanup(t: Cleanup): Cleanup {
  const own = scriptCleanup();
  t.after(() => own.close());
  return own;
}

/** Closes what a `before` hook opens. Call it in the body of the suite. */
export function suiteCleanup(): Cleanup {
  return nestedCleanup({ after });
}
