/** Query strings read by hand: an ordinary one costs a few slices and no URL object. */
import { RequestError } from '../errors.ts';

/**
 * The values of the parameters in `names`; others are ignored. Throws RequestError `invalid_parameter` for one that
 * is given twice and for bad percent encoding.
 */
export function parseQuery(query: string, names: ReadonlySet<string>): Record<string, string> {
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
    const name = encoded ? decodeName(rawName) : rawName;
    if (!names.has(name)) continue;
    const value = encoded ? decode(rawValue) : rawValue;
    if (values[name] !== undefined) {
      throw new RequestError(400, 'invalid_parameter', `${name} is given more than once`, name);
    }
    values[name] = value;
  }
  return values;
}

/** The first value of one parameter, or an empty string. Bad percent encoding counts as absent. */
export function queryValue(query: string, name: string): string {
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
