/** A node's URL, and why a connection to it failed. */
import { isNotTls, peerCertificateProblem, UNKNOWN_ISSUER } from '../lib/tls-files.ts';

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

const USE_TLS = 'if it expects TLS there, use https:// or wss:// in its address';

/**
 * A plain connection ended without a byte: most TLS servers close a connection that does not start with a handshake.
 */
export const CLOSED_UNANSWERED = `the node closed the connection without an answer: ${USE_TLS}`;

/** Other TLS servers answer with this status; ws has no code for it. */
const BAD_REQUEST = 'Unexpected server response: 400';

/** `mayExpectTls`: the connection is plain, and nothing received so far rules out a TLS server. */
export function socketErrorText(
  { message, code, name }: NodeJS.ErrnoException,
  mayExpectTls: boolean,
): string {
  if (isNotTls(code, message)) {
    return 'the node does not speak TLS there: use http:// or ws:// in its address';
  }
  if (UNKNOWN_ISSUER.has(code)) {
    return `${message}: to trust it, start with NODE_EXTRA_CA_CERTS set to the file of its issuer's certificate`;
  }
  const certificate = peerCertificateProblem(code ?? '', message, 'the node');
  if (certificate !== null) return certificate;
  if (mayExpectTls && code === 'ECONNRESET') return CLOSED_UNANSWERED;
  if (mayExpectTls && message === BAD_REQUEST) return `${message}: ${USE_TLS}`;
  return message || code || name; // the message is empty when several addresses all refuse
}
