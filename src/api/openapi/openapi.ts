/**
 * The OpenAPI 3.1 document of /rpc and the REST API, built from the schemas that validate requests and type answers.
 */
import * as z from 'zod';
import { labelSchema } from '../../schemas/fields.ts';
import { signalFilterSchema, walletFilterSchema } from '../../schemas/stream-filters.ts';
import { hookMessageSchema, walletTransferSchema } from '../../schemas/stream-records.ts';
import type { Endpoint } from '../endpoint.ts';
import { ENDPOINTS } from '../endpoints/endpoints.ts';
import { openApiTypes } from '../params.ts';
import { type JsonSchema, jsonSchema, namedSchema, type Schemas } from './json-schema.ts';
import { COMPONENTS, headersOf, type ResponseName } from './openapi-components.ts';
import { HEALTH_ROUTES, type HealthRoute } from './openapi-health.ts';

export interface OpenApiParameter {
  name: string;
  in: 'query';
  required: boolean;
  description: string | undefined;
  schema: JsonSchema;
  example?: unknown;
}

interface Content {
  'application/json': { schema: JsonSchema; example?: object };
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters: OpenApiParameter[];
  requestBody?: { required: true; content: Content };
  responses: { 200: { description: string; headers?: object; content: Content } } & Record<number, object>;
  /** Empty if no key is needed. */
  security?: [];
}

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Partial<Record<'get' | 'post', OpenApiOperation>>>;
  /** Requests that the service sends. */
  webhooks: object;
  components: { schemas: object };
}

const TAGS = {
  wallets: 'Activity and holdings of wallets',
  funding: 'First and recent native transfers between wallets',
  tokens: 'Statistics and holders of tokens',
  chain: 'Transfers and figures of blocks, transactions and the whole chain',
  queries: 'Questions in SQL that the operator of this server has named',
  rpc: "The node's JSON-RPC",
  health: 'State of the service; no key needed',
  webhooks: 'Events sent by the service',
};

const DESCRIPTION = `Wallets, tokens and transfers of one chain, read from an index of all its transfers.

Every answer under /api shows the state at the last indexed block, given in the X-Indexed-Block header, with its hash in
X-Indexed-Hash. Sent back as seen with the next GET, they prove that nothing read before has been replaced since.
Addresses are returned in lower case, times in ISO 8601 (UTC), and numbers beyond 2^53 as text. Answers may contain
fields that are not listed here.

To deduplicate transfers, use txHash and eventIndex; on streams, add blockHash, which distinguishes the branches of a
reorg. id is only a page cursor: after a reorg another transfer may get the same id. txHash and logIndex are not enough:
native transfers have no logIndex, and all items of an ERC-1155 batch share one.

Without a key: /healthz answers 200 while the service is alive. /readyz answers 200 with {"ready":true} while the index
is close to the node's head and the head advances, otherwise 503 with {"ready":false,"reason":"..."}. /status has the
details: lagBlocks, lagSeconds (the age of the newest block), staleReason (null unless the chain has stalled) and
nodeChain, which is "same" while the node follows the indexed chain. With "behind", "another_chain", "reorg_too_deep" or
"reorg_below_finalized", indexing stops until the node agrees with the index again, and reason says what differs. With
several nodes, nodes has the state of each ("healthy", "recovering", "behind", "failing", "another_chain",
"another_fork" or "unchecked"), its head, and which one is in use.`;

/** `version` is the version of atlas-node; `queries`, the endpoints of the named queries. */
export function openApiDocument(version: string, queries: readonly Endpoint[] = []): OpenApiDocument {
  const records: Schemas = {};
  namedSchema(labelSchema, records);
  // OpenAPI cannot describe the streams, but generated clients get the types.
  namedSchema(walletTransferSchema, records);
  namedSchema(walletFilterSchema, records, { io: 'input' });
  namedSchema(signalFilterSchema, records, { io: 'input' });
  return {
    openapi: '3.1.1',
    info: { title: 'atlas-node API', version, description: DESCRIPTION },
    servers: [{ url: '.' }], // relative, so that it also works below a proxy's path prefix
    // Only the header: some generated clients use every scheme listed here, and a key in a URL ends up in logs.
    security: [{ header: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: {
      ...Object.fromEntries(
        [...ENDPOINTS, ...queries].map((endpoint) => [
          endpoint.path,
          { [endpoint.method.toLowerCase()]: operation(endpoint, records) },
        ]),
      ),
      '/rpc': { post: RPC_OPERATION },
      ...Object.fromEntries(
        Object.entries<HealthRoute>(HEALTH_ROUTES).map(([path, health]) => [
          path,
          { get: healthOperation(path, health, records) },
        ]),
      ),
    },
    webhooks: {
      events: {
        post: {
          operationId: 'events',
          tags: ['webhooks'],
          summary: 'The body of a webhook in JSON format, signed as Standard Webhooks defines',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: namedSchema(hookMessageSchema, records) } },
          },
          responses: {
            '2XX': { description: 'Accepts the events' },
            410: { description: 'Deletes the webhook' },
          },
        },
      },
    },
    components: { ...COMPONENTS, schemas: { ...COMPONENTS.schemas, ...records } },
  };
}

/** Adds the named records of the endpoint's answer to `records`. */
function operation(endpoint: Endpoint, records: Schemas): OpenApiOperation {
  const { method, path, tag, summary, params, response, example, toCsv } = endpoint;
  const answer = { ...example.response, historicalCoverageStartBlock: 100 };
  return {
    operationId: path.slice('/api/'.length).replace('/', '_'),
    tags: [tag],
    summary,
    parameters: method === 'GET' ? parametersOf(endpoint) : [],
    ...(method === 'POST' && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: jsonSchema(params, { io: 'input' }), example: example.params },
        },
      },
    }),
    responses: {
      200: {
        description: toCsv ? 'The answer; with format=csv, its list as text/csv' : 'The answer',
        headers: headersOf(
          'X-Indexed-Block',
          'X-Indexed-Hash',
          'X-Indexed-Rewrites',
          ...(method === 'GET' ? ['ETag'] : []),
          ...(toCsv ? ['X-Next-Cursor'] : []),
          ...(toCsv && tag === 'queries' ? ['X-Cut'] : []),
        ),
        // Not text/csv too: the answer would be a union, which clients would have to narrow before each use.
        content: { 'application/json': { schema: namedSchema(response, records), example: answer } },
      },
      ...errorResponses(endpoint),
    },
  };
}

function healthOperation(
  path: string,
  { summary, good, bad, example }: HealthRoute,
  records: Schemas,
): OpenApiOperation {
  const content = (schema: z.ZodObject, example?: object) => ({
    'application/json': { schema: namedSchema(schema, records), ...(example && { example }) },
  });
  const unready = bad && { 503: { description: 'Not ready, with the reason', content: content(bad) } };
  return {
    operationId: path.slice(1),
    tags: ['health'],
    summary,
    parameters: [],
    security: [],
    responses: Object.assign(
      { 200: { description: 'The answer', content: content(good, example) } },
      unready,
    ),
  };
}

/** Query parameters with the types that clients see: numbers, although they arrive as text. */
function parametersOf({ params, example }: Endpoint): OpenApiParameter[] {
  const examples = new Map<string, unknown>(Object.entries(example.params));
  return Object.entries<z.ZodType>(params.shape).map(([name, schema]) => {
    const form = parameterSchema(schema);
    const shown = examples.get(name);
    return {
      name,
      in: 'query',
      required: !schema.safeParse(undefined).success,
      description: schema.description ?? descriptionOf(form),
      schema: form,
      ...(shown !== undefined && { example: coerceExample(shown, form) }),
    };
  });
}

/** Of a schema that is converted after it is checked: the description stays with the check. */
function descriptionOf({ description }: JsonSchema): string | undefined {
  return typeof description === 'string' ? description : undefined;
}

function parameterSchema(schema: z.ZodType): JsonSchema {
  if (schema instanceof z.ZodOptional) return parameterSchema(unwrapSchema(schema));
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const form = parameterSchema(unwrapSchema(schema));
    return { ...form, default: coerceExample(schema.def.defaultValue, form) };
  }
  const form = openApiTypes.get(schema);
  return form === undefined ? jsonSchema(schema, { io: 'input' }) : { ...form };
}

function unwrapSchema(schema: { unwrap(): z.core.$ZodType }): z.ZodType {
  const unwrapped = schema.unwrap();
  if (unwrapped instanceof z.ZodType) return unwrapped;
  throw new Error('a parameter schema wraps a schema of another library');
}

/** Converts a parameter's text to its type. */
function coerceExample(value: unknown, { type }: JsonSchema): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' || type === 'number') return Number(value);
  return type === 'boolean' ? value === 'true' : value;
}

function errorResponses({ method, askNode, findsNothing }: Endpoint): Record<number, object> {
  const shared: [number, ResponseName][] = [
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'Unavailable'],
  ];
  const body: [number, ResponseName][] = [
    [413, 'BodyTooLarge'],
    [415, 'UnsupportedMediaType'],
  ];
  return Object.fromEntries(
    [
      ...(method === 'GET' ? [[304, 'NotModified'] as const, [409, 'Reorged'] as const] : body),
      ...(askNode || findsNothing ? [[404, 'NotFound'] as const] : []),
      [403, 'Forbidden'],
      ...shared,
    ].map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

const REQUEST = { $ref: '#/components/schemas/RpcRequest' };
const RESPONSE = { $ref: '#/components/schemas/RpcResponse' };
const ANSWER = { oneOf: [RESPONSE, { type: 'array', items: RESPONSE }] };

const OVER_LIMIT = { code: -32005, message: 'more than 5 requests per second', data: { retryAfter: 1 } };

/** The OpenAPI operation of JSON-RPC at /rpc. */
export const RPC_OPERATION = {
  operationId: 'rpc',
  tags: ['rpc'],
  summary:
    "The node's JSON-RPC: one call, or a batch of up to 1,000 calls, each of which counts as a request",
  parameters: [],
  requestBody: {
    required: true as const,
    description:
      'The calls of a batch run concurrently, except transactions: they are sent in order, up to the first ' +
      'that the node does not answer',
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
      'The key exceeded its rate limit, even after queueing, or its monthly quota; a batch gets one error ' +
        'per call with an id. With data.upstream, the node limits its calls',
      OVER_LIMIT,
      'Retry-After',
    ),
    500: errorResponse('A bug in the service', { code: -32603, message: 'internal error' }),
    502: errorResponse('The node did not answer', { code: -32603, message: 'upstream unavailable' }),
    503: errorResponse(
      'The node asks to be left alone for a while',
      { code: -32603, message: 'upstream unavailable', data: { upstream: true, retryAfter: 5 } },
      'Retry-After',
    ),
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
