/** Which settings are or may contain secrets, and which part of them may be shown. */
import { MASK, maskUrl } from '../log/redact.ts';
import { splitUrls } from './urls.ts';

const SECRETS = new Set(['admin_token']);

/** Headers often carry a provider's key. */
const SECRET_HEADER = /^node\.headers\./;

/** They often contain a password or a provider's key. */
const URLS = new Set(['node_http', 'node_ws', 'node_traces', 'access.postgres', 'sink.postgres.url']);

/** Often given by mistake in place of a URL. Contains no secret. */
const HOST_AND_PORT = /^[\w.-]*(:\d*)?$/;

/** The value of a setting, valid or not, with secrets masked. */
export function maskSetting(path: string, value: unknown): unknown {
  if (value === '') return value;
  if (SECRETS.has(path) || SECRET_HEADER.test(path)) return MASK;
  if (!URLS.has(path) || typeof value !== 'string') return value;
  return splitUrls(value)
    .map((url) => (HOST_AND_PORT.test(url) ? url : maskUrl(url)))
    .join(',');
}
