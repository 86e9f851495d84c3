/** The OpenAPI operation of JSON-RPC at /rpc. */
import { headersOf } from './openapi-components.ts';

const REQUEST = { $ref: '#/components/schemas/RpcRequest' };
const RESPONSE = { $ref: '#/components/schemas/RpcResponse' };
const ANSWER = { oneOf: [RESPONSE, { type: 'array', items: RESPONSE }] };

const OVER_LIMIT = { code: -32005, message: 'more than 5 requests per second', data: { retryAfter: 1 } };

export const RPC_OPERATION = {
  operationId: 'rpc',
  tags: ['rpc'],
  summary:
    "The node's JSON-RPC: one call, or a batch of up to 1,000 calls, each of which counts as a request",
  parameters: [],
  requestBody: {
    required: true as const,
    description:
      'The calls of a batch run concurrently, except transactions: they are sent in order, up to the first that the node does not answer',
    content: {
      'application/json': {
        schema: { oneOf: [REQUEST, { type: 'array', items: REQUEST, minItems: 1, maxItems: 1_000 }] },
        example: { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] },
      },
    },
  },
  responses: {
    200: {
      description: 'The response, or the responses of a batch, including errors from the call or the node',
      headers: headersOf(),
      content: {
        'application/json': {
          schema: ANSWER,
          example: { jsonrpc: '2.0', id: 1, result: '0x1b4' },
        },
      },
    },
    204: { description: 'No call had an id, so there is no response', headers: headersOf() },
    401: { $ref: '#/components/responses/Unauthorized' },
    413: errorResponse('The body is larger than 2 MB', {
      code: -32600,
      message: 'request body larger than 2000000 bytes',
    }),
    415: errorResponse('The body is compressed', {
      code: -32600,
      message: 'send the body without Content-Encoding',
    }),
    429: errorResponse(
      'The key exceeded its rate limit, even after queueing, or its monthly quota; a batch gets one error per call with an id',
      OVER_LIMIT,
      'Retry-After',
    ),
    500: errorResponse('A bug in the service', { code: -32603, message: 'internal error' }),
    502: errorResponse('The node did not answer', { code: -32603, message: 'upstream unavailable' }),
    504: errorResponse('The node timed out', { code: -32603, message: 'upstream timeout' }),
  },
};

function errorResponse(
  description: string,
  error: { code: number; message: string; data?: object },
  ...headers: string[]
) {
  return {
    description,
    headers: headersOf(...headers),
    content: { 'application/json': { schema: ANSWER, example: { jsonrpc: '2.0', id: null, error } } },
  };
}
