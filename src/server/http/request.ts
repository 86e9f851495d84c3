/** The API key and the query parameters of a request. */
import type { KeyRecord } from '../../access/key.ts';
import type { KeyStore } from '../../access/keys.ts';
import type { Limiter } from '../../access/limiter.ts';
import type { WaitingLine } from '../../access/waiting-line.ts';
import { RequestError } from '../../lib/errors.ts';
import { type HttpRequest, queryOf } from '../uws.ts';

/** The query parameter that may carry the key in place of the header. */
export const KEY_PARAMETER = 'api_key';

export interface ClientAccess {
  keys: Pick<KeyStore, 'verify' | 'publicKeyId'>;
  limiter: Limiter;
  waitingLine: WaitingLine;
}

/** A key as a bearer token. Other tokens are for a proxy or the panel. */
const BEARER_KEY = /^Bearer +(atlas_\S*)$/i;

/** The key of a request, or an empty string: X-API-Key, else a bearer token that is a key, else the query parameter. */
export function apiKeyOf(req: HttpRequest): string {
  const header = req.getHeader('x-api-key');
  if (header !== '') return header;
  return BEARER_KEY.exec(req.getHeader('authorization'))?.[1] ?? queryValue(queryOf(req), KEY_PARAMETER);
}

/** The record of a request's key, null if the key is missing or invalid. */
export function authenticate(access: ClientAccess, req: HttpRequest): KeyRecord | null {
  const key = apiKeyOf(req);
  return key === '' ? null : access.keys.verify(key);
}

/**
 * Maps each name to itself. V8 must intern a substring of the query before it can serve as a property name. The equal
 * key of this map is interned already, which halves the cost of parsing.
 */
type ParameterNames = ReadonlyMap<string, string>;

export function parameterNames(names: Iterable<string>): ParameterNames {
  return new Map(Array.from(names, (name) => [name, name]));
}

/**
 * The values of the parameters in `names`. Ignores others. Throws RequestError `invalid_parameter` for a repeated
 * parameter or bad percent encoding. Parses by hand: an ordinary query then costs a few slices and no URL object.
 */
export function parseQuery(query: string, names: ParameterNames): Record<string, string> {
  const values: Record<string, string> = {};
  const encoded = query.includes('%') || query.includes('+');
  let at = 0;
  while (at < query.length) {
    const ampersand = query.indexOf('&', at);
    const end = ampersand < 0 ? query.length : ampersand;
    const equals = query.indexOf('=', at);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const rawName = query.slice(at, nameEnd);
    const rawValue = query.slice(Math.min(nameEnd + 1, end), end);
    at = end + 1;
    const name = names.get(encoded ? decodeName(rawName) : rawName);
    if (name === undefined) continue;
    const value = encoded ? decode(rawValue) : rawValue;
    if (values[name] !== undefined) {
      throw new RequestError(400, 'invalid_parameter', `${name} is given more than once`, name);
    }
    values[name] = value;
  }
  return values;
}

/** The first value of one parameter, or an empty string. Bad percent encoding counts as absent. */
function queryValue(query: string, name: string): string {
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || decodeName(pair.slice(0, equals)) !== name) continue;
    try {
      return decode(pair.slice(equals + 1));
    } catch {
      return '';
    }
  }
  return '';
}

/** A name with bad percent encoding matches no parameter. */
function decodeName(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decode(text);
  } catch {
    return '';
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new RequestError(400, 'invalid_parameter', 'the query string has bad percent encoding');
  }
}
