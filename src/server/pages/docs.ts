/**
 * The API documentation, which needs no key: /openapi.json and /asyncapi.json for programs, /docs for people. The page covers
 * REST and /rpc, from their OpenAPI document, and the streams. It is readable without its one script, which adds search, copy
 * icons and "Try it" (src/pages/docs).
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
import { REFERENCE } from './docs-reference.ts';
import { STREAMS_SECTION } from './docs-streams.ts';

const DOCUMENT = openApiDocument(version);

/** The documents for programs, by path. */
const DOCUMENTS = { '/openapi.json': DOCUMENT, '/asyncapi.json': asyncApiDocument(version) };

/** The contents of the page's placeholders. */
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
<div id="search"></div>
<h2>Reference</h2>
<ul>
${REFERENCE_LINKS.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('\n')}
</ul>
${groups.map(({ name, members }) => `<h2>${groupTitle(name)}</h2>\n<ul>\n${members.map(linkTo).join('\n')}\n</ul>`).join('\n')}
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
${groups.map(({ name, description, members }) => `<h2 class="group">${groupTitle(name)}</h2>\n<p class="soft">${escapeHtml(description)}.</p>\n${members.map(operationSection).join('\n')}`).join('\n')}
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
  const { operationId, summary, parameters, responses } = operation;
  const answer = responses[200].content['application/json'].example;
  return `<section id="${escapeHtml(operationId)}" data-path="${escapeHtml(path)}" data-method="${method}">
<h3><span class="method">${method}</span> <code>${escapeHtml(path)}</code></h3>
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
