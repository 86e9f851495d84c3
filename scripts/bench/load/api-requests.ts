/** Requests for each REST endpoint, about given wallets and tokens. */

import type { Endpoint } from '../../../src/api/endpoint.ts';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import type { SubjectSet } from '../setup/subjects.ts';
import { getRequest, postRequest } from './request.ts';

/** Wallets of one batch request: as many as are allowed. */
const BATCH = 100;
/** The widest window allowed. */
const WIDEST = { blocks: '1000000', depth: '10' };

export interface EndpointRequests {
  /** Last part of the path, such as `wallet_summary`. */
  name: string;
  /** As they go over the wire. */
  texts: string[];
}

/** Requests for every endpoint; `widest` asks for as much history as is allowed. */
export function apiRequests(subjectSet: SubjectSet, widest: boolean, apiKey: string): EndpointRequests[] {
  return ENDPOINTS.map((endpoint) => ({
    name: endpoint.path.replace(/^\/api\//, ''),
    texts:
      endpoint.method === 'POST'
        ? [
            postRequest(
              endpoint.path,
              JSON.stringify({ addresses: subjectSet.wallets.slice(0, BATCH) }),
              apiKey,
            ),
          ]
        : parametersOf(endpoint, subjectSet).map((parameters) => {
            const query = new URLSearchParams({ ...parameters, ...(widest ? windowOf(endpoint) : {}) });
            return getRequest(`${endpoint.path}?${query}`, apiKey);
          }),
  }));
}

/** The parameters of each of an endpoint's requests. */
function parametersOf({ path, params }: Endpoint, subjectSet: SubjectSet): Record<string, string>[] {
  if ('token' in params.shape) return subjectSet.tokens.map((token) => ({ token }));
  const aboutFunders = path === '/api/funding_recipients';
  const wallets = aboutFunders ? subjectSet.funders : subjectSet.wallets;
  return 'address' in params.shape ? wallets.map((address) => ({ address })) : [{}];
}

function windowOf({ params }: Endpoint): Record<string, string> {
  return Object.fromEntries(Object.entries(WIDEST).filter(([name]) => name in params.shape));
}
