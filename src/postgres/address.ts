/** What the URL of a PostgreSQL says, with the parameters that psql knows. */

/** From the weakest to the strictest. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Other spellings: `allow` is psql's, the others are those of drivers. */
const MODE_ALIASES: Record<string, SslMode> = {
  allow: 'prefer',
  true: 'require',
  false: 'disable',
  'no-verify': 'require',
};

export interface TlsSettings {
  mode: SslMode;
  /** Paths of PEM files; `root` may be `system`. */
  root: string | null;
  cert: string | null;
  key: string | null;
  crl: string | null;
  /** Of the key file. */
  password: string | null;
  /** TLS from the first byte, without asking whether the server offers it. */
  isDirect: boolean;
}

export interface PostgresAddress {
  /** Tried in this order. Folders of Unix sockets start with a slash. */
  hosts: string[];
  port: number;
  /** Undefined: the defaults of psql. */
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  tls: TlsSettings;
  targetSession: string | undefined;
  /** Settings of the session, such as `application_name`. */
  session: Record<string, string>;
}

/** Nobody but an operator can mend it. The message is safe to show to anybody. */
export class PostgresSetupError extends Error {
  override name = 'PostgresSetupError';
}

/** Parameters of psql that say nothing to the server and change nothing here. */
const IGNORED = new Set([
  'connect_timeout',
  'fallback_application_name',
  'gssencmode',
  'gssdelegation',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'sslcertmode',
  'sslcompression',
  'sslsni',
  'tcp_user_timeout',
]);

const DEFAULT_PORT = 5432;

/** Reads a `postgres://` URL. `setting` is the setting that holds it. Throws PostgresSetupError. */
export function parseAddress(text: string, setting: string): PostgresAddress {
  const url = new URL(text);
  const given = new Map(url.searchParams);
  const take = (name: string): string | undefined => {
    const value = given.get(name);
    given.delete(name);
    return value === '' ? undefined : value;
  };
  const hosts = decodeURIComponent(take('host') ?? url.hostname) || process.env.PGHOST || 'localhost';
  const address: PostgresAddress = {
    hosts: hosts.split(',').map((host) => host.replace(/^\[(.*)\]$/, '$1')),
    port: Number(take('port') ?? (url.port || process.env.PGPORT || DEFAULT_PORT)),
    user: take('user') ?? (decodeURIComponent(url.username) || undefined),
    password: take('password') ?? (decodeURIComponent(url.password) || undefined),
    database: take('dbname') ?? (decodeURIComponent(url.pathname.slice(1)) || undefined),
    tls: takeTls(take, setting),
    targetSession: take('target_session_attrs'),
    session: {},
  };
  if (take('channel_binding') === 'require') {
    throw new PostgresSetupError(
      `channel_binding=require in ${setting} is not supported: remove it and set sslmode=verify-full, which also ` +
        'keeps others out of the connection',
    );
  }
  for (const name of IGNORED) given.delete(name);
  address.session = Object.fromEntries(given);
  return address;
}

function takeTls(take: (name: string) => string | undefined, setting: string): TlsSettings {
  const root = take('sslrootcert') ?? null;
  const alias = take('ssl');
  const asked = take('sslmode') ?? alias ?? (root === 'system' ? 'verify-full' : 'prefer');
  const mode = SSL_MODES.find((known) => known === asked) ?? MODE_ALIASES[asked];
  if (mode === undefined) {
    throw new PostgresSetupError(
      // Without the value, which may be a secret in the wrong place.
      `sslmode in ${setting} must be one of ${SSL_MODES.join(', ')}`,
    );
  }
  const [cert, key] = [take('sslcert') ?? null, take('sslkey') ?? null];
  if ((cert === null) !== (key === null))
    throw new PostgresSetupError(`${setting} needs both sslcert and sslkey, or neither`);
  const negotiation = take('sslnegotiation') ?? 'postgres';
  if (!['postgres', 'direct'].includes(negotiation))
    throw new PostgresSetupError(`sslnegotiation in ${setting} must be postgres or direct`);
  const crl = take('sslcrl') ?? null;
  return {
    // As in psql: a named authority is checked.
    mode: mode === 'require' && root !== null ? 'verify-ca' : mode,
    root,
    cert,
    key,
    crl,
    password: take('sslpassword') ?? null,
    isDirect: negotiation === 'direct',
  };
}
