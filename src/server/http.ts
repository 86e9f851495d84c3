/** From an endpoint to a route: the one adapter between the REST API and HTTP. */
import type { KeyRecord } from '../access/keys.ts';
import type { Answered, Api, Caller, PreparedEndpoint } from '../api/api.ts';
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
import {
  announcesMoreThan,
  collectBody,
  type UnfinishedBodies,
  type UnfinishedBody,
  unread,
} from './body.ts';
import { compressed, isCompressible } from './compress.ts';
import { entityTags, matchesTag } from './etag.ts';
import { callerOf, type Gate, KEY_PARAMETER } from './gate.ts';
import { addGetRoute, type Shape } from './get-route.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import { readQuery } from './query-string.ts';
import type { Replies } from './reply.ts';
import { type HttpRequest, type HttpResponse, queryOf, type TemplatedApp } from './uws.ts';

/** Bytes of a REST request body. */
const MAX_BODY_BYTES = 64 * 1024;

export interface RestRoutes {
  api: Api;
  gate: Gate;
  unfinished: UnfinishedBodies;
  replies: Replies;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics;
  log: Logger;
}

/** Registers every endpoint of the API. */
export function addRestRoutes(app: TemplatedApp, routes: RestRoutes): void {
  for (const prepared of routes.api.endpoints) {
    const { method, path } = prepared.endpoint;
    if (method === 'GET') addGetRoute(app, path, getHandler(prepared, routes));
    else app.post(path, postHandler(prepared, routes));
  }
}

/** Answers in the turn in which the request arrived, unless the work is long or the client wants compression. */
function getHandler(prepared: PreparedEndpoint, routes: RestRoutes) {
  const { path, params, tierLimited = false } = prepared.endpoint;
  const names = new Set([...Object.keys(params.shape), KEY_PARAMETER]);
  const tagOf = entityTags(path);
  const meter = routeMeter(routes.metrics, path);

  const answer = (req: HttpRequest): Answer | Promise<Answer> => {
    const cors = routes.cors(req);
    const key = callerOf(routes.gate, req);
    if (key === null) return unauthorized(cors);
    const verdict = routes.gate.limiter.take(key, 1);
    if (!verdict.ok) return limitedAnswer(verdict, cors);
    const lines = cors + allowanceLines(verdict);
    return answerSafely(prepared, routes, lines, () => {
      const caller = callerFor(key, routes);
      const query = queryOf(req);
      const asked = tierLimited ? `${query} ${caller.chainDepth}` : query;
      const tag = tagOf(caller.head, asked);
      if (matchesTag(req.getHeader('if-none-match'), tag)) {
        const tagged = lines + blockLine(caller.head) + tagLine(tag);
        return { status: 304, lines: tagged, body: null, cache: 'revalidate' };
      }
      const answered = prepared.answer(readQuery(query, names), caller);
      if (!(answered instanceof Promise)) {
        return finished(answered, lines + tagLine(tag), () => encodingsOf(req));
      }
      const accepted = encodingsOf(req); // now: the request must not be used after the handler returns
      return answered.then((given) => {
        // Revisions belong to this thread's connection. One older than the answer only costs a full answer later.
        const head = { ...given.head, revision: caller.head.revision };
        return finished(given, lines + tagLine(tagOf(head, asked)), () => accepted);
      });
    });
  };

  return (shape: Shape) =>
    (res: HttpResponse, req: HttpRequest): void => {
      const began = performance.now();
      routes.replies.nowOrLater(
        res,
        () => shape(answer(req)),
        (status) => meter(status, began),
      );
    };
}

function postHandler(prepared: PreparedEndpoint, routes: RestRoutes) {
  const meter = routeMeter(routes.metrics, prepared.endpoint.path);

  return (res: HttpResponse, req: HttpRequest): void => {
    const began = performance.now();
    let receiving: UnfinishedBody | null = null;
    const reply = routes.replies.later(
      res,
      (status) => meter(status, began),
      () => receiving?.end(),
    );
    reply.attempt(() => {
      const cors = routes.cors(req);
      const refuse = (answer: Answer): void => reply.send(unread(req, answer));
      const key = callerOf(routes.gate, req);
      if (key === null) return refuse(unauthorized(cors));
      const verdict = routes.gate.limiter.take(key, 1);
      if (!verdict.ok) return refuse(limitedAnswer(verdict, cors));
      const lines = cors + allowanceLines(verdict);
      const refusal = bodyRefusal(req, lines);
      if (refusal !== null) return refuse(refusal);
      const accepted = encodingsOf(req);
      receiving = routes.unfinished.begin(key.id);
      collectBody(res, MAX_BODY_BYTES, receiving, (body) => {
        if (body === null) return reply.send(tooLarge(lines));
        const answer = answerSafely(prepared, routes, lines, () => {
          const answered = prepared.answer(parseBody(body), callerFor(key, routes));
          const finish = (given: Answered) => finished(given, lines, () => accepted);
          return answered instanceof Promise ? answered.then(finish) : finish(answered);
        });
        if (answer instanceof Promise) reply.sendWhen(answer);
        else reply.send(answer);
      });
    });
  };
}

/** The refusal of a body that its headers alone call for, or null. */
function bodyRefusal(req: HttpRequest, lines: string): Answer | null {
  if (!isJson(req.getHeader('content-type'))) {
    return errorAnswer(new RequestError(415, 'unsupported_media_type', 'send application/json'), lines);
  }
  return announcesMoreThan(req, MAX_BODY_BYTES) ? tooLarge(lines) : null;
}

/** The answer for the client from that of the API. `encodings` is called only where compressing is worth it. */
function finished(
  { head, body }: Answered,
  lines: string,
  encodings: () => string,
): Answer | Promise<Answer> {
  const answer = jsonAnswer(200, body, lines + blockLine(head));
  answer.cache = 'revalidate';
  return isCompressible(body) ? compressed(answer, encodings()) : answer;
}

function encodingsOf(req: HttpRequest): string {
  return req.getHeader('accept-encoding');
}

/** The answer, or an error answer if `respond` throws. */
function answerSafely(
  { endpoint }: PreparedEndpoint,
  { log }: RestRoutes,
  lines: string,
  answer: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const refuse = (error: unknown): Answer => {
    if (error instanceof RequestError) return errorAnswer(error, lines);
    log.error({ err: error, route: endpoint.path }, 'request failed');
    return errorAnswer(internalError(), lines);
  };
  try {
    const given = answer();
    return given instanceof Promise ? given.catch(refuse) : given;
  } catch (error) {
    return refuse(error);
  }
}

function callerFor(key: KeyRecord, { api, gate }: RestRoutes): Caller {
  const head = api.head();
  if (head === null) throw new RequestError(503, 'not_ready', 'no block is indexed yet');
  return { head, chainDepth: gate.limiter.tier(key).chain_depth };
}

function blockLine(head: Caller['head']): string {
  return `\r\nX-Indexed-Block: ${head.number}`;
}

function tagLine(tag: string): string {
  return `\r\nETag: ${tag}`;
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
