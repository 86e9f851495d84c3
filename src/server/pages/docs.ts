/**
 * The API documentation, which needs no key: /openapi.json and /asyncapi.json for programs, /docs for people. The page covers
 * REST and /rpc, from their OpenAPI document, and the streams. It is readable without its one script and loads nothing from
 * outside.
 */

import { asyncApiDocument } from '../../api/openapi/asyncapi.ts';
import {
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiParameter,
  openApiDocument,
} from '../../api/openapi/openapi.ts';
import { version } from '../../lib/version.ts';
import { CachedResponse } from '../http/cached-response.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { addGetRoute, type HttpMetrics, routeMeter, sendMetered } from '../http/route.ts';
import type { HttpRequest, TemplatedApp } from '../uws.ts';
import { codeSample, escapeHtml, type ParameterRow, parameterTable } from './docs-html.ts';
import { STREAMS_SECTION } from './docs-streams.ts';

const DOCUMENT = openApiDocument(version);

/** The documents for programs, by path. */
const DOCUMENTS = { '/openapi.json': DOCUMENT, '/asyncapi.json': asyncApiDocument(version) };

/** What the placeholders of the page stand for. */
export function docsParts(): Record<string, string> {
  return { title: escapeHtml(DOCUMENT.info.title), content: docsContent(DOCUMENT) };
}

/** Registers the documents, which other origins may read, and returns their paths. */
export function addDocumentRoutes(
  app: TemplatedApp,
  {
    replies,
    cors,
    metrics,
  }: { replies: ReplyWriter; cors: (req: HttpRequest) => string; metrics: HttpMetrics },
): string[] {
  for (const [path, document] of Object.entries(DOCUMENTS)) {
    const meter = routeMeter(metrics, path);
    const body = new CachedResponse(JSON.stringify(document), '\r\nContent-Type: application/json');
    addGetRoute(app, path, (adapt) => (res, req) => {
      sendMetered(meter, replies, res, () => adapt(body.answerTo(req, 'revalidate', cors(req))));
    });
  }
  return Object.keys(DOCUMENTS);
}

/** The base URL of the examples; the page's script replaces it with the page's own. */
const EXAMPLE_BASE = 'http://localhost:8650';

/** The body of the page. */
function docsContent(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return `<a class="skip" href="#main">Skip to the content</a>
<div class="docs">
<nav aria-label="Endpoints">
<p class="brand">atlas-node API</p>
<ul>
<li><a href="#keys">Keys and limits</a></li>
${operations.map(({ path, operation }) => `<li><a href="#${operation.operationId}"><code>${escapeHtml(shortPath(path))}</code></a></li>`).join('\n')}
<li><a href="#streams">Streams</a></li>
</ul>
</nav>
<main id="main" data-base="${EXAMPLE_BASE}">
<h1>${escapeHtml(document.info.title)} <span class="soft">${escapeHtml(document.info.version)}</span></h1>
${document.info.description
  .split('\n\n')
  .map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
  .join('\n')}
<p>For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1), and
<a href="asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0) for the streams.</p>
${KEYS_SECTION}
${operations.map(operationSection).join('\n')}
${STREAMS_SECTION}
</main>
</div>`;
}

const KEYS_SECTION = `<section id="keys">
<h2>Keys and limits</h2>
<p>Every request carries a key: in the header <code>X-API-Key</code>, or in the parameter <code>api_key</code> where
headers cannot be set. The same key is valid for <code>/rpc</code>, <code>/ws</code> and <code>/ws/signals</code>. Without
a valid key the answer is 401.</p>
<p>A key has a rate and a monthly quota. <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
<code>RateLimit-Reset</code> show what is left; over the limit the answer is 429 with <code>retryAfter</code>, in seconds. On <code>/rpc</code> a call
over the rate is first queued for a few seconds. A batch of up to 1,000 calls that exceeds the rate is served once earlier
calls are paid off, and then counts against the seconds that follow.</p>
<p>Errors are <code>{"error":{"code","message","param"}}</code>, on <code>/rpc</code> those of JSON-RPC. To poll a GET endpoint, send
the <code>ETag</code> of the last answer in <code>If-None-Match</code>: the answer is 304 until something changes.</p>
</section>`;

interface Documented {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

function operationSection({ path, method, operation }: Documented): string {
  const { operationId, summary, parameters, responses } = operation;
  const answer = responses[200].content['application/json'].example;
  return `<section id="${escapeHtml(operationId)}">
<h2><span class="method">${method}</span> <code>${escapeHtml(path)}</code></h2>
<p>${escapeHtml(summary)}.</p>
${parameters.length > 0 ? parameterTable(parameters.map(parameterRow)) : ''}
${codeSample('Request', curl(path, operation))}
${codeSample('Answer', JSON.stringify(answer, null, 2))}
</section>`;
}

function parameterRow({ name, required, description, schema }: OpenApiParameter): ParameterRow {
  const range = [schema.minimum, schema.maximum].map((bound) => (bound === undefined ? '' : String(bound)));
  return {
    name,
    values: Array.isArray(schema.enum) ? schema.enum.join(', ') : rangeText(typeOf(schema), range),
    byDefault: required ? 'required' : schema.default === undefined ? '' : String(schema.default),
    meaning: description ?? '',
  };
}

/** Only addresses have a pattern. */
function typeOf({ type, pattern }: OpenApiParameter['schema']): string {
  return pattern === undefined ? String(type) : 'address';
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
