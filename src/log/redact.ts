/** Keeps secrets out of all output. */

/** Stands for a secret. */
export const MASK = '***';

/**
 * An API key, also truncated or mistyped. Method names such as `atlas_subscribe` are shorter, and metric names have an
 * underscore within that many letters.
 */
const API_KEY = /atlas_[0-9A-Za-z]{16,}/g;

/** An API key, or any other value, in the query parameter. The underscore may be percent-encoded. */
const KEY_PARAMETER = /(api(?:_|%5f)key=)[^&#\s"'\\]+/gi;

/** A JSON header or field that carries a secret. */
const SECRET_FIELD = /("(?:x-api-key|api_key|authorization|admin_token|cookie)":")(?:[^"\\]|\\.)+/gi;

/** User name and password of a URL. */
const USER_INFO = /(:\/\/)[^\s/@"'?#]+@/g;

/** A text, of JSON or not, with keys and passwords masked. */
export function redact(text: string): string {
  return text
    .replace(API_KEY, `atlas_${MASK}`)
    .replace(KEY_PARAMETER, `$1${MASK}`)
    .replace(SECRET_FIELD, `$1${MASK}`)
    .replace(USER_INFO, `$1${MASK}@`);
}

/** Path segments of this length and mix are keys, because node providers put keys there (`/v2/<key>`). */
const OPAQUE_PART = /^(?=.*\d)[A-Za-z0-9_-]{16,}$/;

/** The scheme, user and password, host and rest of a text that is meant as a URL, such as `http://::1:8545`. */
const BROKEN_URL =
  /^(\w+:\/\/)([^\s/?#@]*@)?((?:[\w.-]+|\[?[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*\]?)(?::\d+)?)([/?#][^@]*)?$/i;

/**
 * A node's URL for display, without password, query values and key-like path segments; of an invalid one at most
 * scheme and host.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) {
    const [, scheme, user, host, rest] = BROKEN_URL.exec(url) ?? [];
    return host === undefined ? MASK : `${scheme}${user ? `${MASK}@` : ''}${host}${rest ? `/${MASK}` : ''}`;
  }
  const { protocol, username, password, host, pathname, searchParams } = new URL(url);
  if (host === '') return MASK; // `user:password@host` is also a URL, with the scheme `user`
  const user = username || password ? `${MASK}@` : '';
  const path = pathname
    .split('/')
    .map((part) => (OPAQUE_PART.test(part) ? MASK : part))
    .join('/');
  const query = [...searchParams.keys()].map((key) => `${key}=${MASK}`).join('&');
  const shownPath = path === '/' && !url.endsWith('/') ? '' : path;
  return `${protocol}//${user}${host}${shownPath}${query && `?${query}`}`;
}

/** A URL: scheme, user and password, host, and the rest. */
const URL_IN_TEXT = /\b((?:https?|wss?):\/\/)([^\s/@"'<>]*@)?([^\s/?#"'<>\\]+)([/?#][^\s"'<>\\]*)?/gi;

/** The value of a parameter or field whose name ends like a key's, in a text of any kind. */
const NAMED_KEY = /((?:key|token|secret|\bproject[ _-]?id)["']?\s*[=:]\s*["']?)(?=[\w-]*\d)[\w-]{8,}/gi;

/** A run that may hold a path. Matching a host and its segments with one pattern would take quadratic time. */
const PATH_RUN = /[\w.:/-]+/g;

/** The end of a segment that is a host: a label, a top-level domain, maybe a port. */
const HOST_END = /\w-*\.[a-z]{2,}(?::\d+)?$/i;

/** A segment that may stand between a host and the key. */
const SEGMENT = /^[\w.-]+$/;

/** A key at the start of a segment; not a hash. */
const KEY_SEGMENT = /^(?!0x)(?=[\w-]*\d)[\w-]{16,}/i;

/** Masks the last key in the path of a URL without scheme, such as `host.example/v2/<key>`, and the path before it. */
function maskKeyInPath(run: string): string {
  if (!run.includes('/')) return run;
  const segments: (string | null)[] = run.split('/');
  for (let at = 0; at < segments.length; ) {
    const host = segments[at++];
    if (typeof host !== 'string' || !HOST_END.test(host)) continue;
    const first = at;
    let key = -1;
    // No later host has another key among these segments, so each is examined once.
    for (; at < segments.length; at++) {
      if (KEY_SEGMENT.test(segments[at]!)) key = at;
      if (!SEGMENT.test(segments[at]!)) break;
    }
    if (key < 0) continue;
    segments.fill(null, first, key);
    segments[key] = segments[key]!.replace(KEY_SEGMENT, MASK);
  }
  return segments.filter((segment) => segment !== null).join('/');
}

/**
 * A text from a node or a provider, for display. It often quotes the URL of the call, with the operator's key in it.
 * Keeps only scheme and host of URLs, because a truncated text may end within the key. Takes linear time, because a
 * node may send megabytes.
 */
export function redactNodeText(text: string): string {
  return redact(text)
    .replace(URL_IN_TEXT, (_url, scheme: string, user?: string, host?: string, rest = '') => {
      const shownRest = rest.length > 1 ? `/${MASK}` : rest;
      return `${scheme}${user === undefined ? '' : `${MASK}@`}${host}${shownRest}`;
    })
    .replace(NAMED_KEY, `$1${MASK}`)
    .replace(PATH_RUN, maskKeyInPath);
}
