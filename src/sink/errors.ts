/** Why the sink cannot write, in words for operators and, without names of hosts and users, for everybody. */
import postgres from 'postgres';
import { codeOf, messageOf } from '../lib/errors.ts';

/** The tables and this sink do not go together: nothing is written until an operator changes something. */
export class SinkMismatchError extends Error {
  override name = 'SinkMismatchError';
}

/** Another sink holds the schema, or took it over. */
export class SinkFencedError extends Error {
  override name = 'SinkFencedError';
}

const ADVICE: Record<string, string> = {
  '28000': 'it refuses the user of sink.postgres.url',
  '28P01': 'it refuses the user or the password of sink.postgres.url',
  '3D000': 'the database of sink.postgres.url does not exist: create it',
  '42501': 'the user lacks a right: it must be able to create and write the schema of sink.postgres.schema',
  '53100': 'its disk is full: free space there',
  '53200': 'it is out of memory',
  '53300': 'it has no free connection: raise max_connections',
  '57P01': 'it is shutting down',
  '57P02': 'it is restarting after a crash',
  '57P03': 'it is starting up or shutting down',
  '58030': 'it cannot read or write its files',
};

/** May be shown to anybody; the log has the whole message. */
export function publicReason(error: unknown): string {
  if (error instanceof SinkMismatchError || error instanceof SinkFencedError) return error.message;
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError)
    return `PostgreSQL refuses: ${ADVICE[code] ?? `error ${code}, explained in the log`}`;
  if (code.startsWith('CONNECTION_')) return 'the connection to PostgreSQL was lost';
  if (code !== '') return `PostgreSQL cannot be reached (${code})`;
  return `the sink failed: ${messageOf(error)}`;
}
