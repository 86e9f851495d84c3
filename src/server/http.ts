/** From an endpoint to a route: the one adapter between the REST API and HTTP. */
import type { KeyRecord } from '../access/keys.ts';
import type { Api, PreparedEndpoint } from '../api/api.ts';
import type { Context } from '../api/endpoint.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../log.ts';
import {
  type Answer,
  allowanceLines,
  errorAnswer,
  internalError,
  jsonAnswer,
  limitedAnswer,
  unauthorized,
} from './answer.ts';
import { announcesMoreThan, collectBody } from './body.ts';
import { entityTags, matchesTag } from './etag.ts';
import { callerOf, type Gate, KEY_PARAMETER } from './gate.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import { readQuery } from './query-string.ts';
import type { Replies } from './reply.ts';
import { type HttpRequest, type HttpResponse, queryOf, type TemplatedApp } from './uws.ts';

/** Bytes of a REST request body. */
const MAX_BODY_BYTES = 64 * 1024;

export interface RestRoutes {
  api: Api;
  gate: Gate;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
  log: Logger;
}

/** Registers every endpoint of the API. */
export function addRestRoutes(app: TemplatedApp, routes: RestRoutes): void {
  for (const prepared of routes.api.endpoints) {
    const { method, path } = prepared.endpoint;
    if (method === 'GET') app.get(path, getHandler(prepared, routes));
    else app.post(path, postHandler(prepared, routes));
  }
}

/** Answers within the turn in which the request came: from one commit, and without any of the rules for late answers. */
function getHandler(prepared: PreparedEndpoint, routes: RestRoutes) {
  const { path, params } = prepared.endpoint;
  const names = new Set([...Object.keys(params.shape), KEY_PARAMETER]);
  const tagOf = entityTags(path);
  const meter = routeMeter(routes.metrics, path);

  const answer = (req: HttpRequest): Answer => {
    const cors = routes.cors(req);
    const key = callerOf(routes.gate, req);
    if (key === null) return unauthorized(cors);
    const verdict = routes.gate.limiter.take(key, 1);
    if (!verdict.ok) return limitedAnswer(verdict, cors);
    const lines = cors + allowanceLines(verdict);
    return answerSafely(prepared, routes, lines, () => {
      const context = contextFor(key, routes);
      const query = queryOf(req);
      const tag = tagOf(context.head, query);
      const tagged = `${lines}${blockLine(context)}\r\nETag: ${tag}`;
      if (matchesTag(req.getHeader('if-none-match'), tag)) {
        return { status: 304, lines: tagged, body: null, cache: 'revalidate' };
      }
      const result = prepared.answer(readQuery(query, names), context);
      return { ...jsonAnswer(200, JSON.stringify(result), tagged), cache: 'revalidate' };
    });
  };

  return (res: HttpResponse, req: HttpRequest): void => {
    const began = performance.now();
    meter(
      routes.replies.now(res, () => answer(req)),
      began,
    );
  };
}

function postHandler(prepared: PreparedEndpoint, routes: RestRoutes) {
  const meter = routeMeter(routes.metrics, prepared.endpoint.path);

  return (res: HttpResponse, req: HttpRequest): void => {
    const began = performance.now();
    const reply = routes.replies.later(
      res,
      (status) => meter(status, began),
      () => undefined,
    );
    reply.attempt(() => {
      const cors = routes.cors(req);
      const key = callerOf(routes.gate, req);
      if (key === null) return reply.send({ ...unauthorized(cors), close: true });
      const verdict = routes.gate.limiter.take(key, 1);
      if (!verdict.ok) return reply.send(limitedAnswer(verdict, cors));
      const lines = cors + allowanceLines(verdict);
      const refusal = bodyRefusal(req, lines);
      if (refusal !== null) return reply.send(refusal);
      collectBody(res, MAX_BODY_BYTES, (body) =>
        reply.send(body === null ? tooLarge(lines) : answerBody(prepared, routes, key, lines, body)),
      );
    });
  };
}

/** What is wrong with a body by its headers alone. */
function bodyRefusal(req: HttpRequest, lines: string): Answer | null {
  if (!isJson(req.getHeader('content-type'))) {
    return errorAnswer(new RequestError(415, 'unsupported_media_type', 'send application/json'), lines);
  }
  return announcesMoreThan(req, MAX_BODY_BYTES) ? tooLarge(lines) : null;
}

function answerBody(
  prepared: PreparedEndpoint,
  routes: RestRoutes,
  key: KeyRecord,
  lines: string,
  body: Buffer,
): Answer {
  return answerSafely(prepared, routes, lines, () => {
    const context = contextFor(key, routes);
    const result = prepared.answer(parseBody(body), context);
    return {
      ...jsonAnswer(200, JSON.stringify(result), lines + blockLine(context)),
      cache: 'revalidate',
    };
  });
}

/** The answer, or the error that came instead of it. */
function answerSafely(
  { endpoint }: PreparedEndpoint,
  { log }: RestRoutes,
  lines: string,
  answer: () => Answer,
): Answer {
  try {
    return answer();
  } catch (error) {
    if (error instanceof RequestError) return errorAnswer(error, lines);
    log.error({ err: error, route: endpoint.path }, 'request failed');
    return errorAnswer(internalError(), lines);
  }
}

function contextFor(key: KeyRecord, { api, gate }: RestRoutes): Context {
  const head = api.head();
  if (head === null) throw new RequestError(503, 'not_ready', 'no block is indexed yet');
  return { head, chainDepth: gate.limiter.tier(key).chain_depth };
}

function blockLine({ head }: Context): string {
  return `\r\nX-Indexed-Block: ${head.number}`;
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestError(400, 'invalid_body', 'the body is not JSON');
  }
}

function isJson(contentType: string): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType);
}

function tooLarge(lines: string): Answer {
  const error = new RequestError(413, 'body_too_large', `the body is longer than ${MAX_BODY_BYTES} bytes`);
  return { ...errorAnswer(error, lines), close: true };
}
