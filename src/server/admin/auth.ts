/**
 * Operator authentication. A browser trades the operator token for a session: an HttpOnly, SameSite=Strict cookie that
 * no script can read, so a flaw in a page cannot leak the token. Against cross-site request forgery a session also
 * requires CSRF_HEADER, which forms cannot send and other origins may not. Programs send the token itself as
 * `Authorization: Bearer`, which browsers never add on their own.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { RequestError } from '../../lib/errors.ts';
import { addressText } from '../http/client-address.ts';

/** Session lifetime, seconds. */
export const SESSION_SECONDS = 12 * 3600;

/** Most concurrent sessions. One more ends the oldest. */
const MAX_SESSIONS = 100;

const ID_BYTES = 32;

class AdminSessions {
  private readonly clock: () => number;
  /**
   * Expiry of each session in clock milliseconds, keyed by the SHA-256 of its id so that lookup times reveal nothing.
   */
  private readonly expiries = new Map<string, number>();

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Starts a session and returns its secret id. */
  begin(): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.expiries.set(digest(id), this.clock() + SESSION_SECONDS * 1000);
    if (this.expiries.size > MAX_SESSIONS) this.expiries.delete(this.expiries.keys().next().value ?? '');
    return id;
  }

  isValid(id: string): boolean {
    const end = this.expiries.get(digest(id));
    return end !== undefined && this.clock() < end;
  }

  end(id: string): void {
    this.expiries.delete(digest(id));
  }
}

function digest(id: string): string {
  return hash('sha256', id, 'base64url');
}

/** This header must accompany the cookie. Any value will do. */
export const CSRF_HEADER = 'x-atlas-panel';

/** The parts of a request that authorize it. Absent headers are empty. */
export interface Credentials {
  authorization: string;
  cookie: string;
  csrfHeader: string;
  /** Failures are counted per client network. */
  clientNetwork: string;
}

/** The client's network sent too many wrong tokens and must wait. */
export class TooManyFailures extends RequestError {
  readonly retryAfter: number;
  constructor(retryAfter: number) {
    super(429, 'too_many_failures', `too many wrong tokens; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

export class AdminAuth {
  /**
   * Random, because browsers share cookies between ports: otherwise two daemons on one host would sign each other out.
   */
  private readonly cookieName = `atlas_admin_${randomBytes(6).toString('hex')}`;
  /** SHA-256, because timingSafeEqual needs equal lengths. */
  private readonly tokenDigest: Buffer;
  private readonly throttle: AdminThrottle;
  private readonly sessions: AdminSessions;

  constructor(token: string, clock: () => number = () => performance.now()) {
    this.tokenDigest = hash('sha256', token, 'buffer');
    this.throttle = new AdminThrottle(clock);
    this.sessions = new AdminSessions(clock);
  }

  /** Throws RequestError 401 or TooManyFailures unless the operator sent the request. */
  authorize({ authorization, cookie, csrfHeader, clientNetwork }: Credentials): void {
    const bearer = /^Bearer +(.+)$/i.exec(authorization)?.[1];
    if (bearer !== undefined) return this.verifyToken(bearer, clientNetwork);
    if (this.isSignedIn({ cookie, csrfHeader })) return;
    throw new RequestError(401, 'not_signed_in', 'sign in with the operator token');
  }

  /** Whether the request belongs to a session. */
  isSignedIn({ cookie, csrfHeader }: Pick<Credentials, 'cookie' | 'csrfHeader'>): boolean {
    return csrfHeader !== '' && this.sessions.isValid(this.sessionIdIn(cookie));
  }

  /** Exchanges the token for a session; returns its Set-Cookie value. Throws as `authorize` does. */
  signIn(token: string, clientNetwork: string, secure: boolean): string {
    this.verifyToken(token, clientNetwork);
    return this.cookieText(this.sessions.begin(), SESSION_SECONDS, secure);
  }

  /** Ends the session of a cookie header, if any; returns the Set-Cookie value that deletes the cookie. */
  signOut(cookie: string, secure: boolean): string {
    this.sessions.end(this.sessionIdIn(cookie));
    return this.cookieText('', 0, secure);
  }

  /** During the wait even the right token is refused; otherwise the wait would not slow down guessing. */
  private verifyToken(token: string, clientNetwork: string): void {
    const retryAfter = this.throttle.retryAfterSeconds(clientNetwork);
    if (retryAfter > 0) throw new TooManyFailures(retryAfter);
    if (timingSafeEqual(hash('sha256', token, 'buffer'), this.tokenDigest)) return;
    this.throttle.recordFailure(clientNetwork);
    throw new RequestError(401, 'wrong_token', 'this is not the operator token');
  }

  private sessionIdIn(cookie: string): string {
    return new RegExp(`(?:^|; *)${this.cookieName}=([\\w-]+)`).exec(cookie)?.[1] ?? '';
  }

  /**
   * No Path attribute, so that the browser uses the directory of the request: `/admin/api` with any prefix that a proxy
   * added.
   */
  private cookieText(id: string, seconds: number, secure: boolean): string {
    const attributes = `Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
    return `${this.cookieName}=${id}; ${attributes}`;
  }
}

const WINDOW_MS = 60_000;

/** Failures within the window before a network must wait. */
const MAX_FAILURES = 10;

/** Most networks remembered. One more drops the network that failed first. */
const MAX_NETWORKS = 10_000;

export class AdminThrottle {
  private readonly clock: () => number;
  /** Recent failures of each network in clock milliseconds, oldest first. */
  private readonly times = new Map<string, number[]>();

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Whole seconds until the network may try again, or 0. */
  retryAfterSeconds(network: string): number {
    const recent = this.recent(network);
    const first = recent[0];
    if (first === undefined || recent.length < MAX_FAILURES) return 0;
    return Math.max(1, Math.ceil((first + WINDOW_MS - this.clock()) / 1000));
  }

  recordFailure(network: string): void {
    const recent = this.recent(network);
    recent.push(this.clock());
    this.times.set(network, recent);
    if (this.times.size > MAX_NETWORKS) this.times.delete(this.times.keys().next().value ?? '');
  }

  private recent(network: string): number[] {
    const since = this.clock() - WINDOW_MS;
    return (this.times.get(network) ?? []).filter((time) => time > since);
  }
}

/**
 * The network that failures are counted against, from the bytes of an IP address: a single IPv4 address, or an IPv6
 * /64, which usually belongs to one client.
 */
export function clientNetworkOf(address: Uint8Array): string {
  const text = addressText(address);
  if (!text.includes(':')) return text;
  const network = text.split(':', 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
