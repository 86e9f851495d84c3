/** What the OpenAPI document says of JSON-RPC at /rpc. */
import { headersOf } from './openapi-components.ts';

const ID = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] };

const RPC_REQUEST = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { ...ID, description: 'Comes back in the answer; a call without one is not answered' },
    method: { type: 'string' },
    params: { type: 'array', items: {} },
  },
};

const RPC_RESPONSE = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: ID,
    result: { description: "The node's own result; there is this or an error" },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'integer' },
        message: { type: 'string' },
        data: { description: 'For code -32005: retryAfter, in seconds' },
      },
    },
  },
};

const ANSWER = { oneOf: [RPC_RESPONSE, { type: 'array', items: RPC_RESPONSE }] };

const OVER_LIMIT = { code: -32005, message: 'more than 5 requests per second', data: { retryAfter: 1 } };

export const RPC_OPERATION = {
  operationId: 'rpc',
  summary: "The node's JSON-RPC: one call, or a batch of up to 100, each of which counts as a request",
  parameters: [],
  requestBody: {
    required: true as const,
    description:
      'The calls of a batch are made at the same time, except transactions: these are sent in their order, until the node fails to answer one',
    content: {
      'application/json': {
        schema: { oneOf: [RPC_REQUEST, { type: 'array', items: RPC_REQUEST, minItems: 1, maxItems: 100 }] },
        example: { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, or those of a batch; also when they are errors of the call or of the node',
      headers: headersOf(),
      content: {
        'application/json': {
          schema: ANSWER,
          example: { jsonrpc: '2.0', id: 1, result: '0x1b4' },
        },
      },
    },
    204: { description: 'No call had an id', headers: headersOf() },
    401: { $ref: '#/components/responses/Unauthorized' },
    413: errorResponse('The body is longer than 2 MB', {
      code: -32600,
      message: 'request body larger than 2000000 bytes',
    }),
    429: errorResponse(
      'Over the rate or the monthly quota of the key; for a batch one error for each call that has an id',
      OVER_LIMIT,
      'Retry-After',
    ),
    500: errorResponse('A defect of the service', { code: -32603, message: 'internal error' }),
    502: errorResponse('The node gives no answer', { code: -32603, message: 'upstream unavailable' }),
    504: errorResponse('The node takes too long', { code: -32603, message: 'upstream timeout' }),
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
