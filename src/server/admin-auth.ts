/**
 * Who may operate. A browser trades the operator token for a session: an HttpOnly, SameSite=Strict cookie that no
 * script can read, so the token itself is not kept where a flaw of a page could reach it. Against requests forged by
 * other sites a session begins and counts only together with CSRF_HEADER, which no form can send and no other origin
 * is allowed to. Programs send the token itself, as `Authorization: Bearer`, which browsers never add by themselves.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { RequestError } from '../errors.ts';
import { AdminSessions, SESSION_SECONDS } from './admin-sessions.ts';
import { AdminThrottle } from './admin-throttle.ts';

/** A header that must accompany the cookie, with any value. */
export const CSRF_HEADER = 'x-atlas-panel';

/** The parts of a request that decide about it. Absent headers are empty. */
export interface Credentials {
  authorization: string;
  cookie: string;
  csrfHeader: string;
  /** The network that failures are counted against (admin-throttle.ts). */
  clientNetwork: string;
}

/** The network has to wait: too many wrong tokens came from it. */
export class TooManyFailures extends RequestError {
  readonly retryAfter: number;
  constructor(retryAfter: number) {
    super(429, 'too_many_failures', `too many wrong tokens; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

export class AdminAuth {
  /** Browsers share the cookies of all ports of a host: with one name for all, daemons there would sign each other out. */
  private readonly cookieName = `atlas_admin_${randomBytes(6).toString('hex')}`;
  /** SHA-256, as of whatever is compared with it: the lengths must be equal. */
  private readonly tokenDigest: Buffer;
  private readonly throttle: AdminThrottle;
  private readonly sessions: AdminSessions;

  constructor(token: string, clock: () => number = () => performance.now()) {
    this.tokenDigest = hash('sha256', token, 'buffer');
    this.throttle = new AdminThrottle(clock);
    this.sessions = new AdminSessions(clock);
  }

  /** Returns for a request of the operator; throws RequestError 401, or TooManyFailures. */
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

  /** Ends the session of a cookie header, if there is one; returns the Set-Cookie value that removes it. */
  signOut(cookie: string, secure: boolean): string {
    this.sessions.end(this.sessionIdIn(cookie));
    return this.cookieText('', 0, secure);
  }

  /** While the network has to wait, even the right token is refused; otherwise waiting would not hinder guessing. */
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
   * No Path attribute: the browser then uses the folder of the request, `/admin/api`, including any prefix that a proxy
   * adds and that is not known here.
   */
  private cookieText(id: string, seconds: number, secure: boolean): string {
    const attributes = `Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
    return `${this.cookieName}=${id}; ${attributes}`;
  }
}
