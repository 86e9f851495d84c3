/** Components of the OpenAPI document that all endpoints share: security schemes, headers, errors, JSON-RPC. */
import { API_ERROR_CODES, type RequestErrorCode } from '../../lib/errors.ts';

const integer = { type: 'integer' };

const HEADERS = {
  'X-Indexed-Block': {
    description: 'The last indexed block; the answer shows the state at this block',
    schema: integer,
  },
  'X-Indexed-Hash': { description: 'The hash of that block', schema: { type: 'string' } },
  'X-Indexed-Rewrites': {
    description: 'Absent unless a repair has ever rewritten blocks of the index: the last part of seen',
    schema: { type: 'string' },
  },
  'X-Next-Cursor': {
    description: 'With format=csv: the cursor of the next page; absent on the last page',
    schema: { type: 'string' },
  },
  'X-Cut': {
    description: 'With format=csv: rows or bytes where rows are missing at the end; absent otherwise',
    schema: { type: 'string', enum: ['rows', 'bytes'] },
  },
  ETag: {
    description: 'Derived from the block and the URL; a matching If-None-Match, or *, gets 304',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'Maximum number of requests in a burst', schema: integer },
  'RateLimit-Remaining': { description: 'Requests left', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until the full limit is available again', schema: integer },
  'Retry-After': { description: 'Seconds to wait before the next request', schema: integer },
};

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { $ref: '#/components/schemas/ErrorCode' },
        message: { type: 'string' },
        param: { type: 'string', description: 'The invalid parameter' },
        from: { type: 'integer', description: 'With code reorged: the block to read again from' },
      },
    },
    from: { type: 'integer', description: 'The same' },
  },
};

const LIMITED = {
  ...ERROR,
  required: ['error', 'retryAfter'],
  properties: {
    ...ERROR.properties,
    retryAfter: { type: 'integer', minimum: 1, description: 'Seconds to wait before the next request' },
  },
};

const UNAUTHORIZED = {
  type: 'object',
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: { const: '2.0' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { const: -32600 }, message: { const: 'Missing or invalid X-API-Key header' } },
    },
  },
};

const ID = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] };

const RPC_REQUEST = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { ...ID, description: 'Echoed in the response; a call without an id gets no response' },
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
    result: { description: "The node's result; absent if there is an error" },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'integer' },
        message: { type: 'string' },
        data: { description: 'With code -32005: retryAfter, in seconds' },
      },
    },
  },
};

const RESPONSES = {
  NotModified: {
    description: 'Not modified: the ETag still matches',
    headers: headersOf('X-Indexed-Block', 'X-Indexed-Hash', 'X-Indexed-Rewrites', 'ETag'),
  },
  BadRequest: errorResponse('A parameter or the body is invalid', {
    code: 'invalid_address',
    message: 'address must be an address: 0x and 40 hex digits',
    param: 'address',
  }),
  Unauthorized: {
    description: 'The key is missing or invalid',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Unauthorized' },
        example: {
          jsonrpc: '2.0',
          error: { code: -32600, message: 'Missing or invalid X-API-Key header' },
        },
      },
    },
  },
  Reorged: errorResponse('The block of seen has left the chain, or a repair has rewritten it', {
    code: 'reorged',
    message:
      'block 4711 of seen has left the chain, or was rewritten by a repair: read again from block 4583 on',
    param: 'seen',
    from: 4583,
  }),
  NotFound: errorResponse('Unknown to the node or the index, or before the first indexed block', {
    code: 'not_found',
    message: 'block 5 is before the first indexed block 100',
  }),
  Forbidden: errorResponse(
    'The allow list of the key lacks the endpoint (not_allowed), or its tier forbids this (tier_limit)',
    {
      code: 'tier_limit',
      message: 'depth is limited to 5 for this key',
      param: 'depth',
    },
  ),
  BodyTooLarge: errorResponse('The body is too large', {
    code: 'body_too_large',
    message: 'the body is longer than 65536 bytes',
  }),
  UnsupportedMediaType: errorResponse('The body is compressed or its content type is not JSON', {
    code: 'unsupported_media_type',
    message: 'send application/json',
  }),
  TooManyRequests: {
    description:
      'The key exceeded its rate limit (rate_limited) or monthly quota (quota_exceeded), or too many named ' +
      'queries wait (busy)',
    headers: headersOf('Retry-After'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/LimitedError' },
        example: {
          error: { code: 'rate_limited', message: 'more than 5 requests per second' },
          retryAfter: 1,
        },
      },
    },
  },
  InternalError: errorResponse('A bug in the service, or a damaged part of the index', {
    code: 'internal',
    message: 'internal error',
  }),
  Unavailable: errorResponse(
    'The index is empty or has not reached the requested block (not_ready), the query took too long ' +
      '(timeout), too many large queries are waiting (busy), the node does not answer (node_unavailable), or the ' +
      'disk failed (storage)',
    {
      code: 'not_ready',
      message: 'no block is indexed yet',
    },
    'Retry-After',
  ),
};

export type ResponseName = keyof typeof RESPONSES;

export const COMPONENTS = {
  securitySchemes: {
    header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    bearer: { type: 'http', scheme: 'bearer', description: 'The key, in place of X-API-Key' },
    query: {
      type: 'apiKey',
      in: 'query',
      name: 'api_key',
      description: 'For clients that cannot set headers, such as WebSockets in browsers',
    },
  },
  headers: HEADERS,
  schemas: {
    ApiError: ERROR,
    ErrorCode: { type: 'string', enum: API_ERROR_CODES },
    LimitedError: LIMITED,
    Unauthorized: UNAUTHORIZED,
    RpcRequest: RPC_REQUEST,
    RpcResponse: RPC_RESPONSE,
  },
  responses: RESPONSES,
};

function errorResponse(
  description: string,
  error: { code: RequestErrorCode; message: string; param?: string; from?: number },
  ...headers: string[]
) {
  return {
    description,
    headers: headersOf(...headers),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/ApiError' }, example: { error } },
    },
  };
}

/** The named headers, and those that every answer to a valid key carries. */
export function headersOf(...names: string[]): object {
  const always = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
  return Object.fromEntries(
    [...names, ...always].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
