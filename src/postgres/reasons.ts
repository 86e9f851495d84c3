/** Why PostgreSQL cannot be used, and what to do, without host and user names. */
import postgres from 'postgres';
import { codeOf } from '../lib/errors.ts';
import { PostgresSetupError } from './address.ts';

type Advice = (setting: string, error: postgres.PostgresError) => string;

/** PostgreSQL's message for a connection that only an encrypted (or only an unencrypted) one would match. */
const NO_ENTRY = /no pg_hba\.conf entry/;
const IS_PLAIN = /no encryption|SSL off/;
const WANTS_CERTIFICATE = /client certificate/i;

const refusesUser: Advice = (setting, { message }) => {
  if (WANTS_CERTIFICATE.test(message))
    return `it demands a certificate of the client: set sslcert and sslkey in ${setting}`;
  if (!NO_ENTRY.test(message)) return `it refuses the user of ${setting}`;
  return IS_PLAIN.test(message)
    ? `its pg_hba.conf does not allow this user, database and address without TLS: set sslmode=require in ${setting}, or add a line there`
    : `its pg_hba.conf does not allow this user, database and address over TLS: add a line there, or set sslmode=disable in ${setting}`;
};

/** Advice by SQLSTATE. `setting` is the setting that holds the URL. */
const ADVICE: Record<string, Advice> = {
  '25006': (setting) =>
    `it is read-only: a standby, or default_transaction_read_only is on; name the primary in ${setting}, or turn that off`,
  '28000': refusesUser,
  '28P01': (setting) => `it refuses the user or the password of ${setting}`,
  '3D000': (setting) => `the database of ${setting} does not exist: create it`,
  '42501': () => 'the user lacks a right: it must be able to create and write the schema',
  '42704': (setting) => `a parameter of ${setting} is unknown to it: see the log`,
  '53100': () => 'its disk is full: free some space',
  '53200': () => 'it is out of memory',
  '53300': () => 'it has no free connection: raise max_connections, or end some sessions',
  '55P03': () => 'another session holds a lock on the tables: end it, or wait',
  '57014': () => 'it cancelled a statement: see the log',
  '57P01': () => 'it is shutting down',
  '57P02': () => 'it is restarting after a crash',
  '57P03': () => 'it is starting up or shutting down',
  '58030': () => 'it cannot read or write its files',
};

/** Safe to show to anybody; null for an error that does not concern the connection. */
export function postgresReason(error: unknown, setting: string): string | null {
  if (error instanceof PostgresSetupError) return error.message;
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError) {
    const advice = ADVICE[code]?.(setting, error) ?? `error ${code}, explained in the log`;
    return `PostgreSQL refuses: ${advice}`;
  }
  if (code.startsWith('CONNECTION_')) return 'the connection to PostgreSQL was lost';
  return code === '' ? null : `PostgreSQL cannot be reached (${code})`;
}
