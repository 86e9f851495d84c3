/** The OpenAPI 3.1 document of the REST API, from the schemas that check requests and type answers, and of /rpc. */
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { COMPONENTS, headersOf, type ResponseName } from './openapi-components.ts';
import { RPC_OPERATION } from './openapi-rpc.ts';
import { openApiTypes } from './params.ts';

type JsonSchema = Record<string, unknown>;

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
  summary: string;
  parameters: OpenApiParameter[];
  requestBody?: { required: true; content: Content };
  responses: { 200: { description: string; headers: object; content: Content } } & Record<number, object>;
}

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Partial<Record<'get' | 'post', OpenApiOperation>>>;
  components: object;
}

const DESCRIPTION = `Wallets, tokens and transfers of one chain, read from an index of all its transfers.

Every answer under /api shows the state at one block, the last indexed one, which the header X-Indexed-Block names.
Addresses come back in lower case, times in ISO 8601 (UTC), numbers beyond 2^53 as text. Answers may have more fields
than are listed.`;

/** The document of all endpoints; `version` is the program's. */
export function openApiDocument(version: string): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: { title: 'atlas-node API', version, description: DESCRIPTION },
    servers: [{ url: '.' }], // relative to this document, so that it holds below the path of a proxy too
    security: [{ header: [] }, { query: [] }],
    paths: {
      ...Object.fromEntries(
        ENDPOINTS.map((endpoint) => [
          endpoint.path,
          { [endpoint.method.toLowerCase()]: operation(endpoint) },
        ]),
      ),
      '/rpc': { post: RPC_OPERATION },
    },
    components: COMPONENTS,
  };
}

function operation(endpoint: Endpoint): OpenApiOperation {
  const { method, path, summary, params, response, example } = endpoint;
  const answer = { ...example.response, historicalCoverageStartBlock: 100 };
  return {
    operationId: path.slice('/api/'.length).replace('/', '_'),
    summary,
    parameters: method === 'GET' ? parametersOf(endpoint) : [],
    ...(method === 'POST' && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: jsonSchema(params, 'input'), example: example.params } },
      },
    }),
    responses: {
      200: {
        description: 'The answer',
        headers: method === 'GET' ? headersOf('X-Indexed-Block', 'ETag') : headersOf('X-Indexed-Block'),
        content: { 'application/json': { schema: jsonSchema(response, 'output'), example: answer } },
      },
      ...errorResponses(endpoint),
    },
  };
}

/** Query parameters as clients see them: numbers, although they arrive as text. */
function parametersOf({ params, example }: Endpoint): OpenApiParameter[] {
  const examples = new Map<string, unknown>(Object.entries(example.params));
  return Object.entries<z.ZodType>(params.shape).map(([name, schema]) => {
    const form = parameterSchema(schema);
    const shown = examples.get(name);
    return {
      name,
      in: 'query',
      required: !schema.safeParse(undefined).success,
      description: schema.description,
      schema: form,
      ...(shown !== undefined && { example: coerceExample(shown, form) }),
    };
  });
}

function parameterSchema(schema: z.ZodType): JsonSchema {
  if (schema instanceof z.ZodOptional) return parameterSchema(unwrapSchema(schema));
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const form = parameterSchema(unwrapSchema(schema));
    return { ...form, default: coerceExample(schema.def.defaultValue, form) };
  }
  const form = openApiTypes.get(schema);
  return form === undefined ? jsonSchema(schema, 'input') : { ...form };
}

function unwrapSchema(schema: { unwrap(): z.core.$ZodType }): z.ZodType {
  const unwrapped = schema.unwrap();
  if (unwrapped instanceof z.ZodType) return unwrapped;
  throw new Error('a parameter schema holds one of another library');
}

/** A parameter's text as a value of its type. */
function coerceExample(value: unknown, { type }: JsonSchema): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' || type === 'number') return Number(value);
  return type === 'boolean' ? value === 'true' : value;
}

/** The JSON Schema of a zod schema. Objects stay open: answers may gain fields, and unknown parameters are ignored. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json;
}

function errorResponses({ method, tierLimited }: Endpoint): Record<number, object> {
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
      ...(method === 'GET' ? [[304, 'NotModified'] as const] : body),
      ...(tierLimited ? [[403, 'TierLimit'] as const] : []),
      ...shared,
    ].map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}
