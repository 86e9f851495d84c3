/** From a function of the panel's API to a route. */
import { RequestError, StorageError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { originOf } from './admin-failures.ts';
import { type Credentials, PANEL_HEADER, TooManyFailures } from './admin-gate.ts';
import { type Answer, errorAnswer, jsonAnswer, retryAfterLine } from './answer.ts';
import { collectBody, comesInChunks, unread } from './body.ts';
import { type HttpMetrics, routeMeter } from './meter.ts';
import type { Replies } from './reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from './uws.ts';

const PREFIX = '/admin/api';
const MAX_BODY_BYTES = 4 * 1024;
const NOSNIFF_LINE = '\r\nX-Content-Type-Options: nosniff';

/** Of chunks the library tells nothing while their sizes go on and on; here that needs neither key nor token. */
const NO_LENGTH = new RequestError(411, 'length_required', 'send Content-Length instead of chunks');

/** A request of the panel, copied from the socket. */
export interface AdminCall {
  credentials: Credentials;
  /** The `:id` of the path, empty where there is none. */
  id: string;
  query: URLSearchParams;
  /** Parsed JSON of a POST, undefined otherwise. */
  body: unknown;
  /** The client speaks TLS, to us or to the proxy in front. */
  secure: boolean;
}

export interface AdminResult {
  body: object;
  /** Value of Set-Cookie. */
  cookie?: string;
}

interface RouteContext {
  tls: boolean;
  replies: Replies;
  metrics: HttpMetrics;
  log: Logger;
}

/** Registers one route below `/admin/api`. What `handle` throws becomes the answer. */
export function addAdminRoute(
  app: TemplatedApp,
  { tls, replies, metrics, log }: RouteContext,
  method: 'get' | 'post' | 'del',
  path: string,
  handle: (call: AdminCall) => AdminResult,
): void {
  const route = PREFIX + path;
  const meter = routeMeter(metrics, route);

  const answer = (call: AdminCall): Answer => {
    try {
      const { body, cookie } = handle(call);
      const cookieLine = cookie === undefined ? '' : `\r\nSet-Cookie: ${cookie}`;
      return jsonAnswer(200, JSON.stringify(body), NOSNIFF_LINE + cookieLine);
    } catch (error) {
      if (error instanceof StorageError) return refusal(new RequestError(503, 'storage', error.message));
      if (!(error instanceof RequestError)) throw error;
      if (error.code === 'wrong_token') log.warn({ from: call.credentials.origin }, 'wrong operator token');
      return refusal(error);
    }
  };

  app[method](route, (res: HttpResponse, req: HttpRequest) => {
    const began = performance.now();
    const count = (status: number) => meter(status, began);
    if (method !== 'post') {
      return count(replies.now(res, () => unread(req, answer(readCall(res, req, tls)))));
    }
    const reply = replies.later(res, count, () => undefined);
    reply.attempt(() => {
      if (comesInChunks(req)) return reply.send(unread(req, errorAnswer(NO_LENGTH, NOSNIFF_LINE)));
      const call = readCall(res, req, tls);
      collectBody(res, MAX_BODY_BYTES, null, (bytes) => {
        reply.attempt(() =>
          reply.send(bytes === null ? tooLarge() : answer({ ...call, body: parse(bytes) })),
        );
      });
    });
  });
}

function readCall(res: HttpResponse, req: HttpRequest, tls: boolean): AdminCall {
  return {
    credentials: {
      authorization: req.getHeader('authorization'),
      cookie: req.getHeader('cookie'),
      panelHeader: req.getHeader(PANEL_HEADER),
      origin: originOf(new Uint8Array(res.getRemoteAddress())),
    },
    id: req.getParameter(0) ?? '',
    query: new URLSearchParams(req.getQuery()),
    body: undefined,
    // Forging the header only marks the forger's own cookie as secure.
    secure: tls || req.getHeader('x-forwarded-proto') === 'https',
  };
}

/** Undefined when it is not JSON; the handlers refuse that with their own messages. */
function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refusal(error: RequestError): Answer {
  if (!(error instanceof TooManyFailures)) return errorAnswer(error, NOSNIFF_LINE);
  const { code, message, retryAfter } = error;
  const body = JSON.stringify({ error: { code, message }, retryAfter });
  return jsonAnswer(429, body, NOSNIFF_LINE + retryAfterLine(retryAfter));
}

function tooLarge(): Answer {
  const error = new RequestError(413, 'body_too_large', `the body is longer than ${MAX_BODY_BYTES} bytes`);
  return { ...errorAnswer(error, NOSNIFF_LINE), close: true };
}
