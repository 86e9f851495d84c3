/** Adapts a function of the panel's API to an HTTP route. */
import { FatalError, RequestError, StorageError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import {
  type Answer,
  type AnswerOutcome,
  errorAnswer,
  jsonAnswer,
  retryAfterHeader,
  unreadBody,
} from '../http/answer.ts';
import { closeIfChunked, collectBody, isChunked } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { type HttpMetrics, routeMeter } from '../http/route.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import { type Credentials, CSRF_HEADER, clientNetworkOf, TooManyFailures } from './auth.ts';

const PREFIX = '/admin/api';
const MAX_BODY_BYTES = 4 * 1024;
const NOSNIFF_HEADER = '\r\nX-Content-Type-Options: nosniff';

/** The library reports nothing during an endless chunk header, and these routes read bodies without a key or token. */
const NO_LENGTH = new RequestError(411, 'length_required', 'send Content-Length instead of chunks');

/** A request of the panel, copied so that it outlives the handler. */
export interface AdminRequest {
  credentials: Credentials;
  /** The `:id` of the path, otherwise empty. */
  id: string;
  query: URLSearchParams;
  /** Parsed JSON of a POST, otherwise undefined. */
  body: unknown;
  /** Aborts when the client of a POST disconnects before it is answered. */
  gone?: AbortSignal;
  /** Whether the client uses TLS, to this server or to the proxy in front of it. */
  secure: boolean;
}

interface AdminResult {
  body: object;
  /** Value of Set-Cookie. */
  cookie?: string;
}

export interface RouteContext {
  /** Whether this server terminates TLS. */
  tls: boolean;
  clientAddress: ClientAddress;
  replies: ReplyWriter;
  metrics: HttpMetrics;
  log: Logger;
}

interface BodyOptions {
  maxBodyBytes?: number;
  /** Runs before the body is read; an error it throws becomes the answer. Routes with large bodies need it. */
  beforeBody?: (request: AdminRequest) => void;
}

/** Registers one route below `/admin/api`. Errors that `handle` throws or rejects with become the answer. */
export function addAdminRoute(
  app: TemplatedApp,
  { tls, clientAddress, replies, metrics, log }: RouteContext,
  method: 'get' | 'post' | 'del',
  path: string,
  handle: (request: AdminRequest) => AdminResult | Promise<AdminResult>,
  { maxBodyBytes = MAX_BODY_BYTES, beforeBody = () => undefined }: BodyOptions = {},
): void {
  const route = PREFIX + path;
  const meter = routeMeter(metrics, route);

  const answer = (request: AdminRequest): Answer | Promise<Answer> => {
    try {
      const result = handle(request);
      if (!(result instanceof Promise)) return resultAnswer(result);
      return result.then(resultAnswer).catch((error: unknown) => answerTo(error, request));
    } catch (error) {
      return answerTo(error, request);
    }
  };
  const answerTo = (error: unknown, request: AdminRequest): Answer => {
    if (error instanceof StorageError) return refusal(new RequestError(503, 'storage', error.message));
    // A damaged keys.db: give the operator the same advice as on the command line.
    if (error instanceof FatalError) return refusal(new RequestError(500, 'damaged', error.message));
    if (!(error instanceof RequestError)) throw error;
    if (error.code === 'wrong_token')
      log.warn({ from: request.credentials.clientNetwork }, 'wrong operator token');
    return refusal(error);
  };
  /** The refusal, or null if the body may be read. */
  const refuseBody = (request: AdminRequest): Answer | null => {
    try {
      beforeBody(request);
      return null;
    } catch (error) {
      return answerTo(error, request);
    }
  };

  const read = (res: HttpResponse, req: HttpRequest) =>
    readAdminRequest(req, clientNetworkOf(clientAddress(res, req)), tls);

  app[method](route, (res: HttpResponse, req: HttpRequest) => {
    const startedAt = performance.now();
    const count = (answered: AnswerOutcome) => meter(answered, startedAt);
    if (method !== 'post') {
      const respond = () => {
        const answered = answer(read(res, req));
        return answered instanceof Promise ? answered : closeIfChunked(req, answered);
      };
      return replies.sendOrDefer(res, respond, count);
    }
    const leaving = new AbortController();
    const reply = replies.defer(res, count, () => leaving.abort());
    reply.guardHandler(() => {
      if (isChunked(req)) return reply.send(closeIfChunked(req, errorAnswer(NO_LENGTH, NOSNIFF_HEADER)));
      const request = read(res, req);
      const refused = refuseBody(request);
      if (refused !== null) return reply.send(refused);
      collectBody(res, reply, maxBodyBytes, null, (bytes) => {
        if (bytes instanceof RequestError) return reply.send(unreadBody(bytes, NOSNIFF_HEADER));
        const answered = answer({ ...request, body: parseJson(bytes), gone: leaving.signal });
        if (answered instanceof Promise) reply.sendResolved(answered);
        else reply.send(answered);
      });
    });
  });
}

function resultAnswer({ body, cookie }: AdminResult): Answer {
  const cookieHeader = cookie === undefined ? '' : `\r\nSet-Cookie: ${cookie}`;
  return jsonAnswer(200, JSON.stringify(body), NOSNIFF_HEADER + cookieHeader);
}

function readAdminRequest(req: HttpRequest, clientNetwork: string, tls: boolean): AdminRequest {
  return {
    credentials: {
      authorization: req.getHeader('authorization'),
      cookie: req.getHeader('cookie'),
      csrfHeader: req.getHeader(CSRF_HEADER),
      clientNetwork,
    },
    id: req.getParameter(0) ?? '',
    query: new URLSearchParams(req.getQuery()),
    body: undefined,
    // A forged header only marks the forger's own cookie as secure.
    secure: tls || req.getHeader('x-forwarded-proto') === 'https',
  };
}

/** Undefined for invalid JSON, which each handler refuses with its own message. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusal(error: RequestError): Answer {
  if (!(error instanceof TooManyFailures)) return errorAnswer(error, NOSNIFF_HEADER);
  const { code, message, retryAfter } = error;
  const body = JSON.stringify({ error: { code, message }, retryAfter });
  return jsonAnswer(429, body, NOSNIFF_HEADER + retryAfterHeader(retryAfter));
}
