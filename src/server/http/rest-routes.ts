/** Adapts the REST endpoints to HTTP routes. */
import { requireEndpoint } from '../../access/allow-list.ts';
import type { KeyRecord } from '../../access/key.ts';
import type { Api, PreparedEndpoint, QueryCaller } from '../../api/api.ts';
import { type Caller, notReady } from '../../api/endpoint.ts';
import type { ApiResult } from '../../api/read-pool/read-pool.ts';
import { RequestError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import { currentMark } from '../../model/rewrites.ts';
import { type HttpRequest, type HttpResponse, queryOf, type TemplatedApp } from '../uws.ts';
import {
  type Answer,
  contentTooLarge,
  csvAnswer,
  errorAnswer,
  internalError,
  jsonAnswer,
  rateLimitHeaders,
  tooManyRequests,
  unauthorized,
  unreadBody,
} from './answer.ts';
import {
  type BodyReservation,
  closeIfChunked,
  collectBody,
  contentLengthExceeds,
  isEncoded,
  UNENCODED_ONLY,
} from './body.ts';
import { etagBuilder, matchesAnyEtag, matchesEtag } from './cached-response.ts';
import { compressAnswer, isCompressible } from './compress.ts';
import {
  apiKeyOf,
  authenticate,
  type ClientAccess,
  KEY_PARAMETER,
  parameterNames,
  parseQuery,
} from './request.ts';
import { addGetRoute, type KeyedRouteDeps, type MethodAdapter, routeMeter, sendMetered } from './route.ts';

/** Largest request body, bytes. */
const MAX_BODY_BYTES = 64 * 1024;

export interface RestRouteDeps extends KeyedRouteDeps {
  api: Api;
  log: Logger;
}

/** Registers every REST endpoint. */
export function addRestRoutes(app: TemplatedApp, deps: RestRouteDeps): void {
  for (const prepared of deps.api.endpoints) {
    const { method, path } = prepared.endpoint;
    if (method === 'GET') addGetRoute(app, path, getHandler(prepared, deps));
    else app.post(path, postHandler(prepared, deps));
  }
}

/** Answers in the turn in which the request arrived, unless the query is slow or the answer is compressed. */
export function getHandler(prepared: PreparedEndpoint, deps: RestRouteDeps) {
  const { named } = prepared;
  const { method, path, params, tierLimited = false } = prepared.endpoint;
  const names = parameterNames([...Object.keys(params.shape), KEY_PARAMETER]);
  const etagOf = etagBuilder(path);
  const meter = routeMeter(deps.metrics, path);

  const answer = (req: HttpRequest, signal?: AbortSignal): Answer | Promise<Answer> => {
    const cors = deps.cors(req);
    const key = authenticate(deps.access, req);
    if (key === null) return unauthorized(cors);
    const admission = deps.access.limiter.admit(key, 1);
    if (!admission.ok) return tooManyRequests(admission, cors);
    const headers = cors + rateLimitHeaders(admission);
    return answerSafely(prepared, deps, headers, () => {
      requireEndpoint(key, method, path);
      named?.requireCaller(queryCallerOf(key, deps.access));
      const caller = callerFor(key, deps, signal);
      const query = queryOf(req);
      const tagInput = tierLimited ? `${query} ${caller.chainDepth}` : query;
      const etag = etagOf(caller.head, tagInput);
      const ifNoneMatch = named?.isRepeatable === false ? '' : req.getHeader('if-none-match');
      if (matchesEtag(ifNoneMatch, etag)) return notModified(caller.head, headers + etagHeader(etag));
      const toConditionalAnswer = matchesAnyEtag(ifNoneMatch) ? toNotModified : toHttpAnswer;
      const answered = prepared.handle(parseQuery(query, names), caller);
      if (!(answered instanceof Promise)) {
        return toConditionalAnswer(answered, headers + etagHeader(etag), () => encodingsOf(req));
      }
      const accepted = encodingsOf(req); // read now: the request is invalid after the handler returns
      return answered.then((given) => {
        // Revisions belong to this thread's connection. An outdated revision only costs a full answer later.
        const head = { ...given.head, revision: caller.head.revision };
        const tag = named?.isRepeatable === false ? '' : etagHeader(etagOf(head, tagInput));
        return toConditionalAnswer(given, headers + tag, () => accepted);
      });
    });
  };

  if (named === undefined)
    return (adapt: MethodAdapter) => (res: HttpResponse, req: HttpRequest) =>
      sendMetered(meter, deps.replies, res, () => adapt(answer(req)));
  return (adapt: MethodAdapter) => (res: HttpResponse, req: HttpRequest) => {
    const left = new AbortController();
    const respond = () => adapt(answer(req, left.signal));
    sendMetered(meter, deps.replies, res, respond, () => left.abort());
  };
}

function postHandler(prepared: PreparedEndpoint, deps: RestRouteDeps) {
  const { method, path } = prepared.endpoint;
  const meter = routeMeter(deps.metrics, path);

  return (res: HttpResponse, req: HttpRequest): void => {
    const startedAt = performance.now();
    let reservation: BodyReservation | null = null;
    const reply = deps.replies.defer(
      res,
      (answer) => meter(answer, startedAt),
      () => reservation?.release(),
    );
    reply.guardHandler(() => {
      const cors = deps.cors(req);
      const refuse = (answer: Answer): void => reply.send(closeIfChunked(req, answer));
      const apiKey = apiKeyOf(req);
      const sender = deps.access.keys.verify(apiKey);
      if (sender === null) return refuse(unauthorized(cors));
      const admission = deps.access.limiter.admit(sender, 1);
      if (!admission.ok) return refuse(tooManyRequests(admission, cors));
      const headers = cors + rateLimitHeaders(admission);
      const refusal = bodyRefusal(req, headers);
      if (refusal !== null) return refuse(refusal);
      const accepted = encodingsOf(req);
      reservation = deps.bodyBudget.open(sender.id);
      collectBody(res, reply, MAX_BODY_BYTES, reservation, (body) => {
        if (body instanceof RequestError) return reply.send(unreadBody(body, headers));
        // Verify again: the key may have been revoked while the body arrived, which can take minutes.
        const key = deps.access.keys.verify(apiKey);
        if (key === null) return reply.send(unauthorized(cors));
        const answer = answerSafely(prepared, deps, headers, () => {
          requireEndpoint(key, method, path);
          const answered = prepared.handle(parseBody(body), callerFor(key, deps));
          const finish = (given: ApiResult) => toHttpAnswer(given, headers, () => accepted);
          return answered instanceof Promise ? answered.then(finish) : finish(answered);
        });
        if (answer instanceof Promise) reply.sendResolved(answer);
        else reply.send(answer);
      });
    });
  };
}

/** The refusal of a body because of its headers, or null. */
function bodyRefusal(req: HttpRequest, headers: string): Answer | null {
  if (!isJson(req.getHeader('content-type'))) {
    return errorAnswer(new RequestError(415, 'unsupported_media_type', 'send application/json'), headers);
  }
  if (isEncoded(req)) {
    return errorAnswer(new RequestError(415, 'unsupported_media_type', UNENCODED_ONLY), headers);
  }
  return contentLengthExceeds(req, MAX_BODY_BYTES) ? contentTooLarge(MAX_BODY_BYTES, headers) : null;
}

/** Converts an API result. Calls `encodings` only for bodies worth compressing. */
function toHttpAnswer(
  { head, body, nextCursor, cut }: ApiResult,
  headers: string,
  encodings: () => string,
): Answer | Promise<Answer> {
  const ownHeaders = headers + indexedHeaders(head) + (cut === undefined ? '' : `\r\nX-Cut: ${cut}`);
  const answer =
    nextCursor === undefined ? jsonAnswer(200, body, ownHeaders) : csvAnswer(body, ownHeaders, nextCursor);
  answer.cache = 'revalidate';
  return isCompressible(body) ? compressAnswer(answer, encodings()) : answer;
}

/** The answer to `If-None-Match: *`. */
function toNotModified({ head }: ApiResult, headers: string): Answer {
  return notModified(head, headers);
}

function notModified(head: Caller['head'], headers: string): Answer {
  return { status: 304, headers: headers + indexedHeaders(head), body: null, cache: 'revalidate' };
}

function encodingsOf(req: HttpRequest): string {
  return req.getHeader('accept-encoding');
}

/** The answer, or an error answer if `respond` throws. */
function answerSafely(
  { endpoint }: PreparedEndpoint,
  { log }: RestRouteDeps,
  headers: string,
  respond: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const refuse = (error: unknown): Answer => {
    if (error instanceof RequestError) return errorAnswer(error, headers);
    log.error({ err: error, route: endpoint.path }, 'request failed');
    return errorAnswer(internalError(), headers);
  };
  try {
    const given = respond();
    return given instanceof Promise ? given.catch(refuse) : given;
  } catch (error) {
    return refuse(error);
  }
}

/** By what a named query decides who may call it. */
export function queryCallerOf(key: KeyRecord, { keys, limiter }: ClientAccess): QueryCaller {
  return { tier: limiter.tierName(key), isPublic: key.id === keys.publicKeyId };
}

function callerFor(key: KeyRecord, { api, access }: RestRouteDeps, signal?: AbortSignal): Caller {
  const head = api.head();
  if (head === null) throw notReady();
  const chainDepth = access.limiter.tier(key).chain_depth;
  return signal === undefined ? { head, chainDepth } : { head, chainDepth, signal };
}

/** What a client sends back as `seen`. */
function indexedHeaders({ number, hash, rewrites }: Caller['head']): string {
  const mark = rewrites.length === 0 ? '' : `\r\nX-Indexed-Rewrites: ${currentMark(rewrites)}`;
  return `\r\nX-Indexed-Block: ${number}\r\nX-Indexed-Hash: ${hash}${mark}`;
}

function etagHeader(etag: string): string {
  return `\r\nETag: ${etag}`;
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
