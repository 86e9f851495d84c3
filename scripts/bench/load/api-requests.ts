/** Requests for each REST endpoint, about given wallets and tokens. */

import type { Endpoint } from '../../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import type { SubjectSet } from '../setup/subjects.ts';
import { getRequest, postRequest } from './request.ts';

/** Wallets per batch request: the maximum. */
const BATCH = 100;
const SEARCHES = ['a', 'usd'];
/** transfer, approve, and one that nobody knows. */
const SELECTORS = '0xa9059cbb,0x095ea7b3,0x12345678';
/** The widest permitted window. */
const WIDEST = { blocks: '1000000', depth: '10' };
const WIDEST_OF_STATS = { blocks: '1000' };

export interface EndpointRequests {
  /** Last part of the path, such as `wallet_summary`. */
  name: string;
  /** As sent over the wire. */
  texts: string[];
}

/** The rotating parameters of each endpoint; `widest` requests as much history as permitted. */
export function apiInputs(
  subjectSet: SubjectSet,
  widest: boolean,
): { endpoint: Endpoint; inputs: object[] }[] {
  return ENDPOINTS.map((endpoint) => ({
    endpoint,
    inputs:
      endpoint.method === 'POST'
        ? [{ addresses: subjectSet.wallets.slice(0, BATCH) }]
        : parametersOf(endpoint, subjectSet).map((parameters) => ({
            ...parameters,
            ...(widest ? windowOf(endpoint) : {}),
          })),
  }));
}

/** Requests for every endpoint. */
export function apiRequests(subjectSet: SubjectSet, widest: boolean, apiKey: string): EndpointRequests[] {
  return apiInputs(subjectSet, widest).map(({ endpoint: { path, method }, inputs }) => ({
    name: nameOf(path),
    texts: inputs.map((input) =>
      method === 'POST'
        ? postRequest(path, JSON.stringify(input), apiKey)
        : getRequest(`${path}?${new URLSearchParams({ ...input })}`, apiKey),
    ),
  }));
}

/** Calls of a tool of `/mcp`, as agents make them. */
export function toolCalls({ wallets }: SubjectSet, apiKey: string): string[] {
  return wallets.map((address) => {
    const params = { name: 'wallet_summary', arguments: { address } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return postRequest('/mcp', body, apiKey, 'application/json, text/event-stream');
  });
}

/** Last part of the path, such as `wallet_summary`. */
export function nameOf(path: Endpoint['path']): string {
  return path.replace(/^\/api\//, '');
}

/** The parameters of each of an endpoint's requests. */
function parametersOf({ path, params }: Endpoint, subjectSet: SubjectSet): Record<string, string>[] {
  if (path === '/api/search') return SEARCHES.map((q) => ({ q }));
  const { tokens, blocks, transactions, funders, wallets } = subjectSet;
  if ('addresses' in params.shape) return [{ addresses: wallets.slice(0, BATCH).join() }];
  if ('selectors' in params.shape) return [{ selectors: SELECTORS }];
  if ('tx' in params.shape) return transactions.map((tx) => ({ tx }));
  if ('address' in params.shape)
    return (path === '/api/funding_recipients' ? funders : wallets).map((address) => ({ address }));
  if ('block' in params.shape) return blocks.map((block) => ({ block: `${block}` }));
  return 'token' in params.shape ? tokens.map((token) => ({ token })) : [{}];
}

function windowOf({ path, params }: Endpoint): Record<string, string> {
  if (path === '/api/chain_stats') return WIDEST_OF_STATS;
  return Object.fromEntries(Object.entries(WIDEST).filter(([name]) => name in params.shape));
}
