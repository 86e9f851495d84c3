/**
 * Restricts what a key may use. An entry is a REST endpoint (`GET /api/wallet_summary`, `GET /api/*`) or a JSON-RPC
 * method (`eth_call`, `eth_*`, `atlas_subscribe`). An empty list permits everything that the server offers.
 */
import { RequestError } from '../lib/errors.ts';

export type AllowList = readonly string[];

/** The part of a key that decides. */
interface Holder {
  allow: AllowList;
}

/** Every check walks the list, so it must be short. */
const MAX_ENTRIES = 100;
const ENDPOINT = /^(GET|POST) \/api\/[\w/]{0,80}\*?$/;
const METHOD = /^[a-zA-Z][a-zA-Z0-9]{0,30}_(\*|\w{1,80})$/;

/** The entries without duplicates. Throws RequestError `invalid_parameter` for an entry that can never match. */
export function allowList(entries: AllowList): AllowList {
  const distinct = [...new Set(entries.map((entry) => entry.trim()))];
  const bad = distinct.find((entry) => !ENDPOINT.test(entry) && !METHOD.test(entry));
  if (bad !== undefined) {
    throw invalid(
      `"${bad.slice(0, 100)}" cannot be allowed: name an endpoint such as "GET /api/*" or "POST ` +
        '/api/wallets/batch", or a method such as eth_call, eth_* or atlas_subscribe',
    );
  }
  if (distinct.length > MAX_ENTRIES) throw invalid(`allow has at most ${MAX_ENTRIES} entries`);
  return distinct;
}

/** Whether the key may use an endpoint of the REST API. */
export function mayUseEndpoint({ allow }: Holder, method: string, path: string): boolean {
  return allow.length === 0 || matchesAny(allow, `${method} ${path}`);
}

/** Throws RequestError `not_allowed` unless the key may use the endpoint. */
export function requireEndpoint(key: Holder, method: string, path: string): void {
  if (mayUseEndpoint(key, method, path)) return;
  throw notAllowed(`this key may not use ${method} ${path}; ask the operator of this server to allow it`);
}

/** A predicate for the JSON-RPC methods that the key may call, null for all. */
export function methodFilter({ allow }: Holder): ((method: string) => boolean) | null {
  return allow.length === 0 ? null : (method) => matchesAny(allow, method);
}

/** Whether the key may call at least one method of `/ws`, or subscribe at `/ws/signals`. */
export function mayConnect({ allow }: Holder, endpoint: '/ws' | '/ws/signals'): boolean {
  if (allow.length === 0) return true;
  if (endpoint === '/ws/signals') return matchesAny(allow, 'atlas_subscribe');
  return allow.some((entry) => METHOD.test(entry) && !entry.startsWith('atlas_'));
}

export function notAllowed(message: string): RequestError {
  return new RequestError(403, 'not_allowed', message);
}

function matchesAny(allow: AllowList, name: string): boolean {
  return allow.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

function invalid(message: string): RequestError {
  return new RequestError(400, 'invalid_parameter', message, 'allow');
}
