/** The parts of the OpenAPI document that do not depend on the endpoints: keys, headers, errors. */

const integer = { type: 'integer' };

const HEADERS = {
  'X-Indexed-Block': { description: 'The last indexed block, whose state the answer shows', schema: integer },
  ETag: {
    description: 'Made of the block and the URL; If-None-Match with it, or with *, gives 304',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'Requests that may be sent', schema: integer },
  'RateLimit-Remaining': { description: 'Requests that are left', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until all of them may be sent again', schema: integer },
  'Retry-After': { description: 'Seconds to wait', schema: integer },
};

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        param: { type: 'string', description: 'The parameter that the message is about' },
      },
    },
  },
};

const LIMITED = {
  ...ERROR,
  required: ['error', 'retryAfter'],
  properties: {
    ...ERROR.properties,
    retryAfter: { type: 'integer', minimum: 1, description: 'Seconds to wait' },
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

const RESPONSES = {
  NotModified: {
    description: 'The answer is the one whose ETag was sent',
    headers: headersOf('X-Indexed-Block', 'ETag'),
  },
  BadRequest: errorResponse('A parameter or the body is wrong', {
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
  TierLimit: errorResponse('More than the tier of the key allows', {
    code: 'tier_limit',
    message: 'depth of this key goes up to 5',
    param: 'depth',
  }),
  BodyTooLarge: errorResponse('The body is too long', {
    code: 'body_too_large',
    message: 'the body is longer than 65536 bytes',
  }),
  UnsupportedMediaType: errorResponse('The body is not sent as JSON', {
    code: 'unsupported_media_type',
    message: 'send application/json',
  }),
  TooManyRequests: {
    description: 'Over the rate (rate_limited) or the monthly quota (quota_exceeded) of the key',
    headers: headersOf('Retry-After'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Limited' },
        example: {
          error: { code: 'rate_limited', message: 'more than 5 requests per second' },
          retryAfter: 1,
        },
      },
    },
  },
  InternalError: errorResponse('A defect of the service', { code: 'internal', message: 'internal error' }),
  Unavailable: errorResponse(
    'Nothing is indexed yet (not_ready), or the answer takes too long (timeout, busy)',
    {
      code: 'not_ready',
      message: 'no block is indexed yet',
    },
  ),
};

export type ResponseName = keyof typeof RESPONSES;

export const COMPONENTS = {
  securitySchemes: {
    header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    query: { type: 'apiKey', in: 'query', name: 'api_key' },
  },
  headers: HEADERS,
  schemas: { Error: ERROR, Limited: LIMITED, Unauthorized: UNAUTHORIZED },
  responses: RESPONSES,
};

function errorResponse(description: string, error: { code: string; message: string; param?: string }) {
  return {
    description,
    headers: headersOf(),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { error } },
    },
  };
}

/** The named headers and those that every answer to a valid key carries. */
export function headersOf(...names: string[]): object {
  const always = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
  return Object.fromEntries(
    [...names, ...always].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
