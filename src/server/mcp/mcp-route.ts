/** `POST /mcp`: the Model Context Protocol over streamable HTTP, for agents. */
import { notAllowed } from '../../access/allow-list.ts';
import type { Api } from '../../api/api.ts';
import { notReady } from '../../api/endpoint.ts';
import type { NamedQueries, PreparedQuery } from '../../api/queries/named-queries.ts';
import { RequestError } from '../../lib/errors.ts';
import { isObject } from '../../lib/text.ts';
import type { Logger } from '../../log/logger.ts';
import {
  type Answer,
  contentTooLarge,
  errorAnswer,
  internalError,
  isStatus,
  rateLimitHeaders,
  tooManyRequests,
  unauthorized,
  unreadBody,
} from '../http/answer.ts';
import {
  type BodyReservation,
  closeIfChunked,
  collectBody,
  contentLengthExceeds,
  isEncoded,
  UNENCODED_ONLY,
} from '../http/body.ts';
import { apiKeyOf } from '../http/request.ts';
import { queryCallerOf } from '../http/rest-routes.ts';
import { type KeyedRouteDeps, routeMeter } from '../http/route.ts';
import type { HttpRequest, HttpResponse, TemplatedApp } from '../uws.ts';
import { type EndpointTool, resourceCost, toolsFor, toolsOf } from './tools.ts';

export const MCP_PATH = '/mcp';

/** Largest request body, bytes. */
const MAX_BODY_BYTES = 64 * 1024;
/** Most messages per body. The protocol dropped batches; older clients may send a few. */
const MAX_MESSAGES = 20;
/** Headers that the protocol reads. */
const PROTOCOL_HEADERS = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
] as const;
/** An Accept header that admits JSON, as far as its quality values are not zero. */
const ADMITS_JSON = /(^|,)\s*(\*\/\*|application\/(\*|json))\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i;

interface McpRouteDeps extends KeyedRouteDeps {
  api: Api;
  queries?: NamedQueries | undefined;
  log: Logger;
}

/** Registers `POST /mcp`. The first request loads the protocol's packages and the tools. */
export function addMcpRoute(app: TemplatedApp, deps: McpRouteDeps): void {
  const { api, access, bodyBudget, replies, log } = deps;
  const meter = routeMeter(deps.metrics, MCP_PATH);
  let built: { of: readonly PreparedQuery[]; tools: ReadonlyMap<string, EndpointTool> } | null = null;
  const currentTools = () => {
    const of = deps.queries?.prepared ?? NO_QUERIES;
    if (built?.of !== of) built = { of, tools: toolsOf(api, of) };
    return built.tools;
  };

  app.post(MCP_PATH, (res: HttpResponse, req: HttpRequest) => {
    const startedAt = performance.now();
    let reservation: BodyReservation | null = null;
    const reply = replies.defer(
      res,
      (answer) => meter(answer, startedAt),
      () => reservation?.release(),
    );
    reply.guardHandler(() => {
      const cors = deps.cors(req);
      const apiKey = apiKeyOf(req);
      const sender = access.keys.verify(apiKey);
      if (sender === null) return reply.send(closeIfChunked(req, unauthorized(cors)));
      if (isEncoded(req)) {
        const error = new RequestError(415, 'unsupported_media_type', UNENCODED_ONLY);
        return reply.send(closeIfChunked(req, errorAnswer(error, cors)));
      }
      if (contentLengthExceeds(req, MAX_BODY_BYTES)) return reply.send(contentTooLarge(MAX_BODY_BYTES, cors));
      const headers = protocolHeaders(req);
      reservation = bodyBudget.open(sender.id);
      collectBody(res, reply, MAX_BODY_BYTES, reservation, (body) => {
        if (body instanceof RequestError) return reply.send(unreadBody(body, cors));
        // Verify again: the key may have been revoked while the body arrived, which can take minutes.
        const key = access.keys.verify(apiKey);
        if (key === null) return reply.send(unauthorized(cors));
        const message = parseMessage(body);
        if (Array.isArray(message) && message.length > MAX_MESSAGES)
          return reply.send(errorAnswer(TOO_MANY, cors));
        const admission = access.limiter.admit(key, costOf(message));
        if (!admission.ok) return reply.send(tooManyRequests(admission, cors));
        const caller = () => {
          const head = api.head();
          if (head === null) throw notReady();
          return { head, chainDepth: access.limiter.tier(key).chain_depth };
        };
        const answer = async (): Promise<Answer> => {
          const { answerMcp } = await import('./mcp-server.ts');
          const usable = toolsFor(key, queryCallerOf(key, access), currentTools());
          if (usable.size === 0) throw NO_TOOLS;
          const request = new Request('http://localhost/mcp', { method: 'POST', headers });
          return toAnswer(
            await answerMcp(request, message, { tools: usable, caller, log }),
            cors + rateLimitHeaders(admission),
          );
        };
        reply.sendResolved(
          answer().catch((error: unknown) => {
            if (error instanceof RequestError) return errorAnswer(error, cors);
            log.error({ err: error, route: MCP_PATH }, 'request failed');
            return errorAnswer(internalError(), cors);
          }),
        );
      });
    });
  });
}

const NO_QUERIES: readonly PreparedQuery[] = [];

const TOO_MANY = new RequestError(
  400,
  'batch_too_large',
  `send at most ${MAX_MESSAGES} messages in one request`,
);

const NO_TOOLS = notAllowed('this key may not use any endpoint of the REST API, so /mcp has no tools for it');

function protocolHeaders(req: HttpRequest): Headers {
  const headers = new Headers();
  for (const name of PROTOCOL_HEADERS) {
    const value = req.getHeader(name);
    if (value !== '') headers.set(name, value);
  }
  // Answers are never streams, so a client need not accept those, as the protocol's package requires.
  const accept = headers.get('accept');
  if (accept === null || ADMITS_JSON.test(accept))
    headers.set('accept', 'application/json, text/event-stream');
  return headers;
}

/** The parsed body; undefined if it is not JSON, which the protocol refuses. */
function parseMessage(body: Buffer): unknown {
  try {
    const message: unknown = JSON.parse(body.toString('utf8'));
    return Array.isArray(message) ? message.map(withoutNulls) : withoutNulls(message);
  } catch {
    return undefined;
  }
}

/** Some clients send as null what a call leaves out: its params, or their arguments, cursor and `_meta`. */
function withoutNulls(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  if (!isObject(params)) return message;
  return {
    ...rest,
    params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)),
  };
}

/** How many requests a body costs. */
function costOf(body: unknown): number {
  if (!Array.isArray(body)) return costOfMessage(body);
  let sum = 0;
  for (const message of body) sum += costOfMessage(message);
  return Math.max(1, sum);
}

/** Anything but an object, such as a batch within a batch, is one invalid message. */
function costOfMessage(message: unknown): number {
  if (!isObject(message) || message.method !== 'resources/read') return 1;
  return resourceCost(isObject(message.params) ? message.params.uri : undefined);
}

async function toAnswer(response: Response, headers: string): Promise<Answer> {
  const type = response.headers.get('content-type');
  const allow = response.headers.get('allow');
  return {
    status: isStatus(response.status) ? response.status : 500,
    headers:
      headers +
      (type === null ? '' : `\r\nContent-Type: ${type}`) +
      (allow === null ? '' : `\r\nAllow: ${allow}`),
    body: await response.text(),
    cache: 'no-store',
  };
}
