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
    ? 'its pg_hba.conf does not allow this user, database and address without TLS: set ' +
        'sslmode=require in ' +
        `${setting}, or add a line there`
    : 'its pg_hba.conf does not allow this user, database and address over TLS: add a line there, ' +
        'or set ' +
        `sslmode=disable in ${setting}`;
};

/** Constraints that the operator added. */
const refusesRow: Advice = (_, { constraint_name: name, table_name: table }) =>
  `the constraint ${name} of the table ${table} refuses a row: drop it`;

/** Advice by SQLSTATE. `setting` is the setting that holds the URL. */
const ADVICE: Record<string, Advice> = {
  '23502': (_, { column_name: column, table_name: table }) =>
    `the column ${table}.${column} is NOT NULL without a default: give it one, or drop NOT NULL`,
  '23503': (_, { constraint_name: name }) =>
    `rows of another table refer to rows that a reorg removes: let the foreign key ${name} cascade, or drop it`,
  '23505': refusesRow,
  '23514': (setting, error) =>
    error.constraint_name
      ? refusesRow(setting, error)
      : `${error.table_name ?? 'transfers'} has no partition for these blocks any more`,
  '23P01': refusesRow,
  '25006': (setting) =>
    `it is read-only: a standby, or default_transaction_read_only is on; name the primary in ${setting}, or ` +
    'turn that off',
  '28000': refusesUser,
  '28P01': (setting) => `it refuses the user or the password of ${setting}`,
  '3D000': (setting) => `the database of ${setting} does not exist: create it`,
  '42501': () =>
    'the user lacks a right: it must be able to create and write the schema, and to create temporary tables',
  '42703': () => 'a column was renamed or dropped: rename it back',
  '42P01': () =>
    'a table was renamed or dropped: rename it back, or drop the schema to have it written again',
  '42P07': () => 'the schema has a table of that name that is not from this program: rename it',
  '42704': (setting) => `a parameter of ${setting} is unknown to it: see the log`,
  '53100': () => 'its disk is full: free some space',
  '53200': () => 'it is out of memory',
  '53300': () =>
    'it has no free connection: raise max_connections, or the limit of the user or database, or end some sessions',
  '55P03': () => 'another session holds a lock on the tables: end it, or wait',
  '57014': () => 'it cancelled a statement: see the log',
  '57P01': () => 'it is shutting down',
  '57P02': () => 'it is restarting after a crash',
  '57P03': () => 'it is starting up or shutting down',
  '58030': () => 'it cannot read or write its files',
};

/** The program calls no function of its own: one that fails belongs to a trigger, a default or a constraint. */
function unknownError(code: string, { where }: postgres.PostgresError): string {
  return where?.includes('function')
    ? `a function that the operator added to a table, such as a trigger, failed (${code}): mend or ` +
        'drop it; ' +
        'the log has its message'
    : `error ${code}, explained in the log`;
}

/** Safe to show to anybody; null for an error that does not concern the connection. */
export function postgresReason(error: unknown, setting: string): string | null {
  if (error instanceof PostgresSetupError) return error.message;
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError) {
    const advice = ADVICE[code]?.(setting, error) ?? unknownError(code, error);
    return `PostgreSQL refuses: ${advice}`;
  }
  if (code.startsWith('CONNECTION_')) return 'the connection to PostgreSQL was lost';
  return code === '' ? null : `PostgreSQL cannot be reached (${code})`;
}
