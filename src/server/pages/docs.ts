/**
 * The API documentation, which needs no key: /openapi.json and /asyncapi.json for programs, /docs for people. The page
 * is readable without its one script, which adds search, copy icons and "Try it" (src/pages/docs).
 */
import type { NamedQueries } from '../../api/queries/named-queries.ts';
import { CachedResponse } from '../http/cached-response.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { addGetRoute, type HttpMetrics, routeMeter, sendMetered } from '../http/route.ts';
import type { HttpRequest, TemplatedApp } from '../uws.ts';
import { plainReference } from './plain-reference.ts';
import { type ApiReference, buildReference, type Queries } from './reference.ts';

const NO_QUERIES: Queries = [];

let built: { of: Queries; reference: ApiReference } | undefined;

/**
 * With named queries, builds the reference for the first server of the process, before it listens: on a request, it
 * would hold the event loop. A reload rebuilds it if it changes the queries.
 */
function referenceOf(of: Queries): ApiReference {
  if (of.length === 0) return plainReference();
  if (built?.of !== of) built = { of, reference: buildReference(of) };
  return built.reference;
}

/** The contents of the page's placeholders. */
export function docsParts(queries: Queries = NO_QUERIES): Record<string, string> {
  return referenceOf(queries).parts;
}

/** Registers the documents, which other origins may read, and returns their paths. */
export function addDocumentRoutes(
  app: TemplatedApp,
  {
    replies,
    cors,
    metrics,
    queries,
  }: {
    replies: ReplyWriter;
    cors: (req: HttpRequest) => string;
    metrics: HttpMetrics;
    queries?: NamedQueries | undefined;
  },
): string[] {
  const paths = Object.keys(referenceOf(queries?.prepared ?? NO_QUERIES).json);
  for (const path of paths) {
    const meter = routeMeter(metrics, path);
    const body = bodyOfQueries(queries, (of) => {
      const text = referenceOf(of).json[path] ?? '';
      return new CachedResponse(text, '\r\nContent-Type: application/json');
    });
    addGetRoute(app, path, (adapt) => (res, req) => {
      sendMetered(meter, replies, res, () => adapt(body().answerTo(req, 'revalidate', cors(req))));
    });
  }
  return paths;
}

/** A body that depends on the named queries, made once for each configuration. */
export function bodyOfQueries(
  queries: Pick<NamedQueries, 'prepared'> | undefined,
  make: (queries: Queries) => CachedResponse,
): () => CachedResponse {
  const current = (): Queries => queries?.prepared ?? NO_QUERIES;
  let made = { of: current(), body: make(current()) };
  return () => {
    const of = current();
    if (made.of !== of) made = { of, body: make(of) };
    return made.body;
  };
}
