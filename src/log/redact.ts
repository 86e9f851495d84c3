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

/**
 * A node's URL for display, without password, query values and key-like path segments; only the mask for an invalid
 * URL.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return MASK;
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

/** The value of a parameter or field named like a key, in a text of any kind. */
const NAMED_KEY =
  /\b((?:[\w-]*(?:key|token|secret)|project[ _-]?id)["']?\s*[=:]\s*["']?)(?=[\w-]*\d)[\w-]{8,}/gi;

/** A key in the path of a URL without scheme, such as `host.example/v2/<key>`; not a hash. */
const KEY_IN_PATH = /\b((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?\/)(?:[\w.-]+\/)*(?!0x)(?=[\w-]*\d)[\w-]{16,}/gi;

/**
 * A text from a node or a provider, for display. It often quotes the URL of the call, with the operator's key in it.
 * Keeps only scheme and host of URLs, because a truncated text may end within the key.
 */
export function redactNodeText(text: string): string {
  return redact(text)
    .replace(URL_IN_TEXT, (_url, scheme: string, user?: string, host?: string, rest = '') => {
      const shownRest = rest.length > 1 ? `/${MASK}` : rest;
      return `${scheme}${user === undefined ? '' : `${MASK}@`}${host}${shownRest}`;
    })
    .replace(NAMED_KEY, `$1${MASK}`)
    .replace(KEY_IN_PATH, `$1${MASK}`);
}
