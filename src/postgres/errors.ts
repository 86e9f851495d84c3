/** Why PostgreSQL is unavailable, without host and user names. */
import postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';

/** Advice by SQLSTATE. `setting` is the setting that holds the URL. */
const ADVICE: Record<string, (setting: string) => string> = {
  '28000': (setting) => `it refuses the user of ${setting}`,
  '28P01': (setting) => `it refuses the user or the password of ${setting}`,
  '3D000': (setting) => `the database of ${setting} does not exist: create it`,
  '42501': () => 'the user lacks a right: it must be able to create and write the schema',
  '53100': () => 'its disk is full: free some space',
  '53200': () => 'it is out of memory',
  '53300': () => 'it has no free connection: raise max_connections',
  '57P01': () => 'it is shutting down',
  '57P02': () => 'it is restarting after a crash',
  '57P03': () => 'it is starting up or shutting down',
  '58030': () => 'it cannot read or write its files',
};

/** Safe to show to anybody; null for an error that does not concern the connection. */
export function postgresReason(error: unknown, setting: string): string | null {
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError)
    return `PostgreSQL refuses: ${ADVICE[code]?.(setting) ?? `error ${code}, explained in the log`}`;
  if (code.startsWith('CONNECTION_')) return 'the connection to PostgreSQL was lost';
  return code === '' ? null : `PostgreSQL cannot be reached (${code})`;
}
