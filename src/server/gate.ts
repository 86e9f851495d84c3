/** Who calls, and whether it may. */
import type { KeyRecord, KeyStore } from '../access/keys.ts';
import type { Limiter } from '../access/limiter.ts';
import { queryValue } from './query-string.ts';
import { type HttpRequest, queryOf } from './uws.ts';

/** The query parameter that may carry the key instead of the header. */
export const KEY_PARAMETER = 'api_key';

export interface Gate {
  keys: Pick<KeyStore, 'verify'>;
  limiter: Limiter;
}

/** The key of a request, or null when it has none or an invalid one. The header goes before the query parameter. */
export function callerOf(gate: Gate, req: HttpRequest): KeyRecord | null {
  const header = req.getHeader('x-api-key');
  const key = header !== '' ? header : queryValue(queryOf(req), KEY_PARAMETER);
  return key === '' ? null : gate.keys.verify(key);
}
