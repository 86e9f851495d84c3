/** Why a query has no answer, in one line that its author can act on. */
import { FatalError, onOneLine } from '../lib/errors.ts';

/** Names in a query may be as long as the query. */
const MAX_CHARACTERS = 300;

/** A query that is not run, or fails by its own fault. The message may quote the query: it is put on one line. */
export class QueryRefusal extends Error {
  override name = 'QueryRefusal';
  /** The message without the hint. */
  readonly reason: string;
  readonly hint: string;
  /** `hint`: what to write instead, told whole. */
  constructor(message: string, hint = '') {
    const line = onOneLine(message);
    const reason = line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)} ...` : line;
    super(hint === '' ? reason : `${reason}; ${onOneLine(hint)}`);
    this.reason = reason;
    this.hint = hint;
  }
}

/** A query that was ended because it took too much of something. */
export class QueryLimitError extends Error {
  override name = 'QueryLimitError';
  /** Whether it took too long, rather than too much. */
  readonly isTimeout: boolean;
  constructor(message: string, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** No process for queries can be started, or it cannot read the index: nothing that the author of a query can mend. */
export class QueryStartError extends FatalError {
  override name = 'QueryStartError';
}
