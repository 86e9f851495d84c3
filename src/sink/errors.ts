/** Why the sink cannot write, in full for operators, and without host and user names for everybody else. */
import { messageOf } from '../lib/errors.ts';
import { postgresReason } from '../postgres/connection.ts';

/** The tables and this sink are incompatible: nothing is written until an operator changes something. */
export class SinkMismatchError extends Error {
  override name = 'SinkMismatchError';
}

/** Another sink holds the schema, or took it over. */
export class SinkFencedError extends Error {
  override name = 'SinkFencedError';
}

/** Safe to show to anybody. The log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof SinkMismatchError || error instanceof SinkFencedError) return error.message;
  return postgresReason(error, 'sink.postgres.url') ?? `the sink failed: ${messageOf(error)}`;
}
