/** A node's URL, and why a connection to it failed. */
/** The parts of a node's URL, split so that its secrets reach only the node. */
export interface Endpoint {
  /** `http://host:port` or `ws://host:port`. The only part allowed in messages and logs. */
  origin: string;
  /** Path and query; providers put API keys here. */
  path: string;
  /** Authorization header built from `user:password@`, if the URL has it. */
  authorization: string | undefined;
}

/** Splits an absolute http, https, ws or wss URL. Throws TypeError for anything else. */
export function parseEndpoint(url: string): Endpoint {
  const { origin, pathname, search, username, password } = new URL(url);
  if (origin === 'null') throw new TypeError('the URL of a node must start with http, https, ws or wss');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    origin,
    path: pathname + search,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`,
  };
}

/** OpenSSL's messages for an answer that is not TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|http request/i;

const USE_TLS = 'if it expects TLS there, use https:// or wss:// in its address';

/**
 * A plain connection ended without a byte: most TLS servers close a connection that does not start with a handshake.
 */
export const CLOSED_UNANSWERED = `the node closed the connection without an answer: ${USE_TLS}`;

/** Other TLS servers answer with this status; ws has no code for it. */
const BAD_REQUEST = 'Unexpected server response: 400';

/** OpenSSL's codes for a certificate whose issuer this machine does not trust. */
const UNKNOWN_ISSUER: ReadonlySet<string | undefined> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** `mayExpectTls`: the connection is plain, and nothing received so far rules out a TLS server. */
export function socketErrorText(
  { message, code, name }: NodeJS.ErrnoException,
  mayExpectTls: boolean,
): string {
  if (code === 'EPROTO' && NOT_TLS.test(message)) {
    return 'the node does not speak TLS there: use http:// or ws:// in its address';
  }
  if (UNKNOWN_ISSUER.has(code)) {
    return `${message}: to trust it, start with NODE_EXTRA_CA_CERTS set to the file of its issuer's certificate`;
  }
  if (mayExpectTls && code === 'ECONNRESET') return CLOSED_UNANSWERED;
  if (mayExpectTls && message === BAD_REQUEST) return `${message}: ${USE_TLS}`;
  return message || code || name; // the message is empty when several addresses all refuse
}
