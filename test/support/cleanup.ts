/** Who closes what a test opens. */
import { after } from 'node:test';
import { CleanupStack } from '../../src/lib/cleanup-stack.ts';

type Close = () => void | Promise<void>;

/** A test, or what stands for one or for a suite. */
export interface Owner {
  after(close: Close): void;
}

/** An owner for all that a test opens: it closes the latest first, and all of it even where closing something fails. */
export function opened(t: Owner): Owner {
  const closers = new CleanupStack();
  t.after(() => closers.close());
  return { after: (close) => void closers.adopt(null, close) };
}

/** The same for what a `before` hook opens; to be called in the body of the suite. */
export function suiteOwner(): Owner {
  return opened({ after });
}
