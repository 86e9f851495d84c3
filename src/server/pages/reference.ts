/**
 * Builds the reference of the API: OpenAPI and AsyncAPI for programs, and the body of the page. The page covers REST
 * and /rpc, from their OpenAPI document, and the streams.
 */
import { CRITERIA_TEXTS } from '../../api/endpoints/wallet-label.ts';
import { asyncApiDocument } from '../../api/openapi/asyncapi.ts';
import type { JsonSchema } from '../../api/openapi/json-schema.ts';
import {
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiParameter,
  openApiDocument,
} from '../../api/openapi/openapi.ts';
import type { PreparedQuery } from '../../api/queries/named-queries.ts';
import type { API_ERROR_CODES } from '../../lib/errors.ts';
import { isObject } from '../../lib/text.ts';
import { version } from '../../lib/version.ts';
import { codeSample, escapeHtml, type ParameterRow, parameterTable, table } from './docs-html.ts';
import { STREAMS_SECTION } from './docs-streams.ts';

/** The reference of the API, the same for every server of a process. */
export interface ApiReference {
  /** The contents of the page's placeholders. */
  parts: Record<string, string>;
  /** The documents for programs, as JSON by path. */
  json: Record<string, string>;
}

/** Named queries of one configuration. */
export type Queries = readonly Pick<PreparedQuery, 'endpoint'>[];

/** Takes 0.15 s. */
export function buildReference(queries: Queries): ApiReference {
  const openApi = openApiDocument(
    version,
    queries.map(({ endpoint }) => endpoint),
  );
  return {
    parts: { title: escapeHtml(openApi.info.title), content: docsContent(openApi) },
    json: {
      '/openapi.json': JSON.stringify(openApi),
      '/asyncapi.json': JSON.stringify(asyncApiDocument(version)),
    },
  };
}

/** The base URL of the examples. The page's script replaces it with the page's own. */
const EXAMPLE_BASE = 'http://localhost:8650';

/** The body of the page: endpoints in the groups of their tags. */
function docsContent(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const groups = document.tags
    .map(({ name, description }) => ({
      name,
      description,
      members: operations.filter(({ operation }) => operation.tags[0] === name),
    }))
    .filter(({ members }) => members.length > 0);
  return `<nav aria-label="Contents">
<div id="search-field"></div>
<h2>Reference</h2>
<ul>
${REFERENCE_LINKS.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('\n')}
</ul>
${groups
  .map(({ name, members }) => `<h2>${groupTitle(name)}</h2>\n<ul>\n${members.map(linkTo).join('\n')}\n</ul>`)
  .join('\n')}
</nav>
<main id="main" tabindex="-1" data-base="${EXAMPLE_BASE}">
<h1>${escapeHtml(document.info.title)} <span class="soft">${escapeHtml(document.info.version)}</span></h1>
${document.info.description
  .split('\n\n')
  .map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
  .join('\n')}
<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1), and
<a href="asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0) for the streams.</p>
${REFERENCE}
${groups
  .map(
    ({ name, description, members }) =>
      `<h2 class="group">${groupTitle(name)}</h2>\n<p ` +
      `class="soft">${escapeHtml(description)}.</p>\n${members.map(operationSection).join('\n')}`,
  )
  .join('\n')}
${STREAMS_SECTION}
</main>`;
}

/** Sections that belong to no single endpoint, by id. */
const REFERENCE_LINKS = [
  ['keys', 'Keys'],
  ['errors', 'Error codes'],
  ['limits', 'Limits'],
  ['labels', 'Label criteria'],
  ['streams', 'Streams'],
] as const;

function groupTitle(tag: string): string {
  return tag === 'rpc' ? 'JSON-RPC' : tag.charAt(0).toUpperCase() + tag.slice(1);
}

function linkTo({ path, operation }: Documented): string {
  return `<li><a href="#${operation.operationId}"><code>${escapeHtml(shortPath(path))}</code></a></li>`;
}

interface Documented {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

function operationSection({ path, method, operation }: Documented): string {
  const { operationId, summary, responses } = operation;
  const parameters = [...operation.parameters, ...bodyMembers(operation)];
  const answer = responses[200].content['application/json'].example;
  return `<section id="${escapeHtml(operationId)}" data-path="${escapeHtml(path)}" data-method="${method}">
<h3><span class="method">${method}</span> <code>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(summary)}.</p>
${parameters.length > 0 ? parameterTable(parameters.map(parameterRow)) : ''}
${codeSample('Request', curl(path, operation))}
${codeSample('Answer', JSON.stringify(answer, null, 2))}
</section>`;
}

/** The members of a JSON body as parameters; none for a body of several forms. */
function bodyMembers({ requestBody }: OpenApiOperation): Omit<OpenApiParameter, 'in'>[] {
  const { properties, required } = requestBody?.content['application/json'].schema ?? {};
  return Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => {
    const schema = isObject(member) ? member : {};
    const description = typeof schema.description === 'string' ? schema.description : undefined;
    return { name, required: Array.isArray(required) && required.includes(name), description, schema };
  });
}

function parameterRow({ name, required, description, schema }: Omit<OpenApiParameter, 'in'>): ParameterRow {
  const range = [schema.minimum, schema.maximum].map((bound) => (bound === undefined ? '' : String(bound)));
  return {
    name,
    values: Array.isArray(schema.enum) ? schema.enum.join(', ') : rangeText(typeOf(schema), range),
    byDefault: required ? 'required' : schema.default === undefined ? '' : String(schema.default),
    meaning: description ?? '',
  };
}

/** The kind of a text, or the JSON type. */
function typeOf({ type, title, items }: JsonSchema): string {
  if (title !== undefined) return String(title);
  if (!isObject(items)) return String(type);
  return `list of ${Array.isArray(items.enum) ? items.enum.join(', ') : typeOf(items)}`;
}

/** `integer, 1 to 200` or `number, from 0`. */
function rangeText(type: string, [from = '', to = '']: readonly string[]): string {
  if (to !== '') return `${type}, ${from} to ${to}`;
  return from === '' ? type : `${type}, from ${from}`;
}

function curl(path: string, { parameters, requestBody, security }: OpenApiOperation): string {
  const query = parameters
    .filter(({ example }) => example !== undefined)
    .map(({ name, example }) => `${name}=${example}`)
    .join('&');
  const url = `${EXAMPLE_BASE}${path}`;
  if (security !== undefined) return `curl ${url}`;
  const key = "curl -H 'X-API-Key: YOUR_KEY'";
  if (requestBody === undefined) return `${key} \\\n  '${url}${query === '' ? '' : `?${query}`}'`;
  const body = JSON.stringify(requestBody.content['application/json'].example);
  return `${key} -H 'Content-Type: application/json' \\\n  -d '${body}' \\\n  ${url}`;
}

function shortPath(path: string): string {
  return path.replace('/api/', '');
}

/** Status and meaning of each error code. */
const ERRORS: Record<(typeof API_ERROR_CODES)[number], [status: string, meaning: string]> = {
  invalid_parameter: ['400', 'A parameter is missing, repeated or out of range; param names it'],
  invalid_address: ['400', 'Not 0x and 40 hex digits; param names the parameter'],
  invalid_body: ['400', 'The body is not the JSON that the endpoint expects'],
  batch_too_large: ['400', 'More than 100 addresses in wallets/batch'],
  tier_limit: ['403', 'Exceeds the tier of the key'],
  not_allowed: ['403', 'The operator has not allowed this key to call it'],
  not_found: ['404', 'No such path, or the node does not know the transaction or block'],
  method_not_allowed: ['405', 'The path exists but requires another method'],
  reorged: [
    '409',
    'The block of seen has left the chain, or a repair has rewritten it; read again from block from',
  ],
  body_too_large: ['413', 'The body exceeds 64 KiB'],
  unsupported_media_type: ['415', 'Send application/json, without Content-Encoding'],
  rate_limited: ['429', 'The key exceeded its rate limit; retryAfter is the time to wait, in seconds'],
  quota_exceeded: [
    '429',
    'The monthly quota is used up; retryAfter is the time until the next month, in seconds',
  ],
  internal: ['500', 'A bug in the service; the details are in its log'],
  not_ready: ['503', 'Not indexed yet; retry after Retry-After seconds'],
  timeout: ['503', 'The query took too long'],
  busy: ['503; 429 of a named query', 'Too many long queries at once; retry'],
  node_unavailable: ['503', 'The node did not answer'],
  storage: ['503', 'The index is temporarily unreadable'],
  query_refused: ['400', 'A named query cannot run with these values, such as a text that is no JSON'],
  query_ended: ['503', 'A named query took too much memory or disk, or its process ended'],
};

/** Configuration can change the limits of streams and /rpc. Tiers set rate, quota and depth. */
const LIMITS = [
  ['rate and quota', 'set by the tier of the key; every call of a batch counts'],
  ['limit', 'see the table of each endpoint; pass cursor for the next page'],
  ['blocks', '1,000,000'],
  ['depth of funding_chain', '10, or less where the tier of the key says so'],
  ['wallets/batch', '100 addresses, 64 KiB'],
  ['batch on /rpc', '1,000 calls, 2 MB'],
  ['eth_getLogs', '10,000 blocks; above, the error names a range that works'],
  ['sockets', '5 per key, with 10 subscriptions each'],
  ['message to a socket', '2 MB'],
  ['unread notifications', '8 MiB; then the socket is closed with code 1013'],
];

/** Reference shared by all endpoints: keys, limits, errors, and label criteria. */
const REFERENCE = `<section id="keys">
<h2>Keys</h2>
<p>Every request carries a key: in the header <code>X-API-Key</code>, or in the parameter <code>api_key</code> where
headers cannot be set. The same key is valid for <code>/rpc</code>, <code>/ws</code> and <code>/ws/signals</code>.
Without a valid key the answer is 401.</p>
<p>A key has a rate and a monthly quota. <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
<code>RateLimit-Reset</code> show what is left; over the limit the answer is 429 with <code>retryAfter</code>, in
seconds. On <code>/rpc</code> and the WebSockets a call over the rate is first queued for a few seconds. A batch of up
to 1,000 calls that exceeds the rate is served once earlier calls are paid off, and then counts against the seconds that
follow.</p>
<p>Errors are <code>{"error":{"code","message","param"}}</code>, on <code>/rpc</code> those of JSON-RPC. To poll a GET
endpoint, send the <code>ETag</code> of the last answer in <code>If-None-Match</code>: the answer is 304 until something
changes.</p>
</section>
<section id="errors">
<h2>Error codes</h2>
<p>Of every path below <code>/api</code>. A missing or invalid key is answered as on <code>/rpc</code>, with status 401
and the JSON-RPC code -32600. On <code>/rpc</code> and the streams: -32005 over a limit, -32602 for invalid parameters,
-32601 for a method that is not offered, -32603 where the node did not answer.</p>
${table(
  ['Code', 'Status', 'Meaning'],
  Object.entries(ERRORS).map(([code, row]) => [code, ...row]),
)}
</section>
<section id="limits">
<h2>Limits</h2>
<p>As they are unless the operator has changed them.</p>
${table(['What', 'Limit'], LIMITS)}
</section>
<section id="labels">
<h2>Label criteria</h2>
<p>Labels of <code>wallet_label</code>, by what is indexed of the wallet. Several may apply.</p>
${table(['Label', 'Criterion'], Object.entries(CRITERIA_TEXTS))}
</section>`;
