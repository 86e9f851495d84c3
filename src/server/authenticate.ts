/** Which key a request has, and whether it is valid. */
import type { KeyRecord, KeyStore } from '../access/keys.ts';
import type { Limiter } from '../access/limiter.ts';
import { queryValue } from './query-string.ts';
import { type HttpRequest, queryOf } from './uws.ts';

/** The query parameter that may carry the key instead of the header. */
export const KEY_PARAMETER = 'api_key';

export interface ClientAccess {
  keys: Pick<KeyStore, 'verify'>;
  limiter: Limiter;
}

/** The key in a request, empty when there is none. The header takes precedence over the query parameter. */
export function apiKeyOf(req: HttpRequest): string {
  const header = req.getHeader('x-api-key');
  return header !== '' ? header : queryValue(queryOf(req), KEY_PARAMETER);
}

/** The record of a request's key, or null when it has none or an invalid one. */
export function authenticate(access: ClientAccess, req: HttpRequest): KeyRecord | null {
  const key = apiKeyOf(req);
  return key === '' ? null : access.keys.verify(key);
}
