/**
 * The tools of `/mcp`, one per REST endpoint with its parameters, limits and answers; and its resources, combined
 * answers of several endpoints about one wallet, for a reader without a plan.
 */
import type { ResourceTemplateType, Tool } from '@modelcontextprotocol/server';
import { mayUseEndpoint, notAllowed } from '../../access/allow-list.ts';
import type { KeyRecord } from '../../access/key.ts';
import type { Api, PreparedEndpoint, QueryCaller } from '../../api/api.ts';
import type { Caller } from '../../api/endpoint.ts';
import type { JsonSchema } from '../../api/openapi/json-schema.ts';
import { type OpenApiOperation, openApiDocument } from '../../api/openapi/openapi.ts';
import type { PreparedQuery } from '../../api/queries/named-queries.ts';
import { RequestError } from '../../lib/errors.ts';
import { isObject } from '../../lib/text.ts';
import { version } from '../../lib/version.ts';
import { unknownMemberText } from '../../model/unknown-member.ts';

/** A tool and the endpoint that answers it. */
export interface EndpointTool {
  tool: Tool;
  prepared: PreparedEndpoint;
}

type ObjectSchema = Tool['inputSchema'];

/** The tools by name: the last part of the endpoint's path, for a named query its name. */
export function toolsOf(api: Api, queries: readonly PreparedQuery[]): ReadonlyMap<string, EndpointTool> {
  const { paths, components } = openApiDocument(
    version,
    queries.map(({ endpoint }) => endpoint),
  );
  const records = new Map<string, unknown>(Object.entries(components.schemas));
  return new Map(
    [...api.endpoints, ...queries].map((prepared) => {
      const { method, path } = prepared.endpoint;
      const operation = paths[path]?.[method === 'GET' ? 'get' : 'post'];
      if (operation === undefined) throw new Error(`${path} is not in the OpenAPI document`);
      const name = path.slice(path.lastIndexOf('/') + 1);
      const tool: Tool = {
        name,
        description: operation.summary,
        inputSchema: { ...standalone(argumentsOf(operation), records), additionalProperties: false },
        outputSchema: standalone(operation.responses[200].content['application/json'].schema, records),
        annotations: { readOnlyHint: true, openWorldHint: false },
      };
      return [name, { tool, prepared }];
    }),
  );
}

/** The schema of an endpoint's parameters as one object. Tools answer in JSON and without headers. */
function argumentsOf({ parameters, requestBody }: OpenApiOperation): JsonSchema {
  if (requestBody !== undefined) return requestBody.content['application/json'].schema;
  const usable = parameters.filter(({ name }) => name !== 'format' && name !== 'seen');
  return {
    properties: Object.fromEntries(
      usable.map(({ name, description, schema }) => [
        name,
        { ...schema, ...(description !== undefined && { description }) },
      ]),
    ),
    required: usable.flatMap(({ name, required }) => (required ? [name] : [])),
  };
}

/** The tools whose endpoints the key may use. */
export function toolsFor(
  key: Pick<KeyRecord, 'allow'>,
  caller: QueryCaller,
  tools: ReadonlyMap<string, EndpointTool>,
): ReadonlyMap<string, EndpointTool> {
  const mayUse = ({ prepared: { endpoint, named } }: EndpointTool) =>
    mayUseEndpoint(key, endpoint.method, endpoint.path) && (named?.mayCall(caller) ?? true);
  return new Map([...tools].filter(([, tool]) => mayUse(tool)));
}

const COMPONENT = '#/components/schemas/';

/**
 * The schema of an object as its own document, because models and clients read it alone: components that it refers to
 * become its definitions.
 */
function standalone(schema: JsonSchema, records: ReadonlyMap<string, unknown>): ObjectSchema {
  const definitions = new Map<string, JsonSchema>();
  const refer = (value: JsonSchema): JsonSchema =>
    JSON.parse(JSON.stringify(value), (key, member: unknown) => {
      if (key !== '$ref' || typeof member !== 'string' || !member.startsWith(COMPONENT)) return member;
      const name = member.slice(COMPONENT.length);
      if (!definitions.has(name)) {
        definitions.set(name, {}); // before it is read: records may refer to each other
        definitions.set(name, refer(recordOf(name, records)));
      }
      return `#/$defs/${name}`;
    });
  const { $ref } = schema;
  const root = typeof $ref === 'string' ? recordOf($ref.slice(COMPONENT.length), records) : schema;
  const object = refer(root);
  return {
    ...object,
    type: 'object',
    ...(definitions.size > 0 && { $defs: Object.fromEntries(definitions) }),
  };
}

function recordOf(name: string, records: ReadonlyMap<string, unknown>): JsonSchema {
  const record = records.get(name);
  if (!isObject(record)) throw new Error(`the OpenAPI document has no record ${name}`);
  return record;
}

/**
 * The JSON text of an endpoint's answer. A GET takes its parameters as text, as in a query. Throws or rejects with
 * RequestError, also for an argument that the tool does not have: a model takes one without effect for a filter.
 */
export async function callEndpoint(
  { tool, prepared: { endpoint, handle } }: EndpointTool,
  given: Readonly<Record<string, unknown>>,
  caller: Caller,
): Promise<string> {
  const known = Object.keys(tool.inputSchema.properties ?? {});
  const mistake = unknownMemberText(given, known, 'argument');
  if (mistake !== null) throw new RequestError(400, 'invalid_parameter', mistake);
  const input = endpoint.method === 'GET' ? asQuery(given) : given;
  return (await handle(input, caller)).body;
}

function asQuery(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const items = Array.isArray(value) ? value : [value];
    if (items.some((item) => typeof item === 'object'))
      throw new RequestError(
        400,
        'invalid_parameter',
        `${name} must be plain, or a list of plain values`,
        name,
      );
    query[name] = items.join();
  }
  return query;
}

interface WalletResource {
  template: ResourceTemplateType;
  pattern: RegExp;
  /** The tools whose answers make up the resource, with their parameters besides `address`. */
  parts: readonly { tool: string; params: Readonly<Record<string, unknown>> }[];
}

const RESOURCES: readonly WalletResource[] = [
  {
    template: {
      uriTemplate: 'atlas://wallet/{address}',
      name: 'wallet_dossier',
      title: 'Wallet dossier',
      description: 'Totals, behaviour labels, first funding, tokens and counterparties of a wallet',
      mimeType: 'application/json',
    },
    pattern: /^atlas:\/\/wallet\/(0x[0-9a-fA-F]{40})$/,
    parts: [
      { tool: 'wallet_summary', params: {} },
      { tool: 'wallet_label', params: {} },
      { tool: 'wallet_funding_source', params: {} },
      { tool: 'wallet_tokens', params: { limit: 20 } },
      { tool: 'wallet_counterparties', params: { limit: 20 } },
    ],
  },
  {
    template: {
      uriTemplate: 'atlas://funding/{address}',
      name: 'funding_graph',
      title: 'Funding graph',
      description:
        'Who funded a wallet, hop by hop; which wallets it funded; which other wallets share its funder',
      mimeType: 'application/json',
    },
    pattern: /^atlas:\/\/funding\/(0x[0-9a-fA-F]{40})$/,
    parts: [
      { tool: 'funding_chain', params: {} },
      { tool: 'funding_recipients', params: { limit: 50, blocks: 1_000_000 } },
      { tool: 'coordinated_wallets', params: { limit: 50 } },
    ],
  },
];

export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = RESOURCES.map(({ template }) => template);

/** How many requests reading the resource costs: one per endpoint. */
export function resourceCost(uri: unknown): number {
  return RESOURCES.find(({ pattern }) => typeof uri === 'string' && pattern.test(uri))?.parts.length ?? 1;
}

/** The JSON text of a resource. Rejects with RequestError `not_found` for an unknown URI. */
export async function readResource(
  uri: string,
  tools: ReadonlyMap<string, EndpointTool>,
  callerNow: () => Caller,
): Promise<string> {
  for (const { pattern, parts } of RESOURCES) {
    const address = pattern.exec(uri)?.[1];
    if (address === undefined) continue;
    const caller = callerNow();
    const members = await Promise.all(
      parts.map(async ({ tool, params }) => {
        const known = tools.get(tool);
        if (known === undefined) throw notAllowed(`this key may not use ${tool}, a part of ${uri}`);
        return `${JSON.stringify(tool)}:${await callEndpoint(known, { address, ...params }, caller)}`;
      }),
    );
    return `{${members.join()}}`;
  }
  const known = RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(' and ');
  throw new RequestError(404, 'not_found', `there is no resource ${uri}; known are ${known}`);
}
