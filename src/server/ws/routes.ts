/** The WebSocket routes: admission and socket events. */
import { isUtf8 } from 'node:buffer';
import { mayConnect } from '../../access/allow-list.ts';
import { errorJson, INTERNAL_ERROR, RpcCode } from '../../gateway/errors.ts';
import type { RpcHandler } from '../../gateway/handler.ts';
import { errorForAll, readRequest } from '../../gateway/request.ts';
import { RequestError } from '../../lib/errors.ts';
import { reportFailure } from '../../lib/guard.ts';
import type { Logger } from '../../log/logger.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { CloseCode, FLOODING, INTERNAL_FAILURE, KEY_INVALID } from '../../streams/close.ts';
import type { StreamHub } from '../../streams/hub.ts';
import { guardSocket } from '../guard-app.ts';
import { type Answer, errorAnswer, jsonAnswer, unauthorized } from '../http/answer.ts';
import { closeIfChunked } from '../http/body.ts';
import { addressText, type ClientAddress } from '../http/client-address.ts';
import type { ReplyWriter } from '../http/reply.ts';
import { apiKeyOf, type ClientAccess } from '../http/request.ts';
import { addGetRoute, type HttpMetrics, routeMeter, sendMetered } from '../http/route.ts';
import type { ConnectionLimiter } from '../overload.ts';
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from '../uws.ts';
import { type Client, holderOf, type SocketData, WsConnection, type WsEndpoint } from './connection.ts';
import type { WsConnectionLimits, WsConnections } from './connections.ts';
import { Inbox } from './inbox.ts';
import { ethMessageHandler, type MessageHandler, signalMessageHandler } from './message-handlers.ts';

/** The `[stream]` table of the configuration. */
export interface StreamSettings extends WsConnectionLimits {
  max_message_bytes: number;
  max_backlog_bytes: number;
}

export interface WsRouteDeps {
  hub: StreamHub;
  connections: WsConnections;
  settings: StreamSettings;
  rpc: RpcHandler;
  access: ClientAccess;
  replies: ReplyWriter;
  clientAddress: ClientAddress;
  connectionLimiter: Pick<ConnectionLimiter, 'onWebSocketClosed'>;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics & Pick<Metrics, 'sockets' | 'slowConsumers'>;
  log: Logger;
}

/** A message up to this many times the limit gets the proper close code; above, the library cuts the connection. */
const HARD_LIMIT_FACTOR = 2;
/** The library's idle timeout, 960 s at most, fires this much later than ours. */
const LIBRARY_IDLE_SECONDS = 8;
const MAX_LIBRARY_IDLE_SECONDS = 960;

const ENDPOINTS: readonly WsEndpoint[] = ['/ws', '/ws/signals'];

/** Registers both endpoints and returns the paths. */
export function addWsRoutes(app: TemplatedApp, deps: WsRouteDeps): readonly string[] {
  const { rpc, access, log } = deps;
  const handlerDeps = { rpc, line: access.waitingLine, log };
  for (const endpoint of ENDPOINTS) addUpgradeRequiredRoute(app, deps, endpoint);
  addEndpoint(app, deps, '/ws', ethMessageHandler(handlerDeps));
  addEndpoint(app, deps, '/ws/signals', signalMessageHandler(handlerDeps));
  return ENDPOINTS;
}

function addEndpoint(
  app: TemplatedApp,
  deps: WsRouteDeps,
  endpoint: WsEndpoint,
  handleMessage: MessageHandler,
): void {
  const { connections, settings, connectionLimiter, metrics } = deps;
  const sockets = metrics.sockets.labels(endpoint);
  const touch = (socket: WebSocket<SocketData>): Client | undefined => {
    const { client } = socket.getUserData();
    if (client !== undefined) client.connection.quietChecks = 0;
    return client;
  };

  const behavior: WebSocketBehavior<SocketData> = {
    maxPayloadLength: settings.max_message_bytes * HARD_LIMIT_FACTOR,
    // Outbox enforces the limit. The library must never drop a message.
    maxBackpressure: 0,
    idleTimeout: Math.min(MAX_LIBRARY_IDLE_SECONDS, settings.idle_seconds + LIBRARY_IDLE_SECONDS),
    sendPingsAutomatically: false,
    upgrade: upgradeHandler(deps, endpoint),
    open(socket) {
      const client = createClient(socket, deps, endpoint, handleMessage);
      socket.getUserData().client = client;
      connections.add(client.connection, client.session);
      sockets.inc();
    },
    message(socket, message, isBinary) {
      const client = touch(socket);
      if (client === undefined || client.connection.isClosing) return;
      const { connection } = client;
      connection.countMessage();
      if (message.byteLength > settings.max_message_bytes) {
        return connection.close(
          CloseCode.messageTooBig,
          `message larger than ${settings.max_message_bytes} bytes`,
        );
      }
      // Some clients (web3.py) send binary messages. The library does not check their encoding.
      if (isBinary && !isUtf8(message)) {
        return connection.close(CloseCode.invalidText, 'the message is not UTF-8');
      }
      client.inbox.enqueue(Buffer.from(new Uint8Array(message))); // the library reuses the memory
    },
    drain: (socket) => socket.getUserData().client?.connection.onDrain(),
    ping(socket) {
      const client = touch(socket);
      client?.connection.countTowardsFlood();
      // The library answers pings itself and buffers the pongs for a client that does not read.
      if (client !== undefined && client.connection.unsentPongBytes > settings.max_backlog_bytes)
        socket.close();
    },
    pong: (socket) => touch(socket)?.connection.countTowardsFlood(), // includes unsolicited pongs
    close(socket) {
      connectionLimiter.onWebSocketClosed();
      const { client } = socket.getUserData();
      if (client === undefined) return;
      connections.delete(client.connection);
      client.inbox.stop();
      client.connection.onClosed();
      client.session.close();
      sockets.dec();
    },
  };
  app.ws(endpoint, guardSocket(behavior));
}

/** Creates the connection, session and inbox of a newly opened socket. */
function createClient(
  socket: WebSocket<SocketData>,
  { hub, connections, settings, access, metrics, log }: WsRouteDeps,
  endpoint: WsEndpoint,
  handleMessage: MessageHandler,
): Client {
  const { key: record, apiKey } = socket.getUserData();
  const { id } = record;
  const connection = new WsConnection(socket, {
    endpoint,
    limits: {
      notificationBytes: settings.max_backlog_bytes,
      answerBudget: connections.answerBudget.forClient(id),
    },
    payer: {
      key: id,
      charge() {
        const key = access.keys.verify(apiKey);
        const admission = key === null ? null : access.limiter.take(key, 1);
        // null: the key was revoked and the connection is about to close
        return admission === null || admission.ok ? null : admission;
      },
    },
    onSlowConsumer() {
      metrics.slowConsumers.inc();
      log.warn({ endpoint, key: id }, 'closed a slow consumer');
    },
  });
  const session = hub.session(endpoint === '/ws' ? 'eth' : 'signals', connection);
  const inbox = new Inbox({
    connection,
    maxBytes: settings.max_backlog_bytes,
    onOverflow: () => connection.close(...FLOODING),
    async handle(body, arrivedAt) {
      if (connection.isClosing) return;
      try {
        const key = access.keys.verify(connection.apiKey);
        if (key === null) connection.close(...KEY_INVALID);
        else await handleMessage({ connection, session, key, body, arrivedAt });
      } catch (error) {
        if (connection.signal.aborted) return;
        reportFailure(endpoint, error);
        connection.answer(errorForAll(readRequest(body.toString('utf8')), INTERNAL_ERROR));
      }
    },
    onFailure: () => connection.close(...INTERNAL_FAILURE),
  });
  return { connection, session, inbox };
}

/** Answers requests without a WebSocket upgrade. */
function addUpgradeRequiredRoute(
  app: TemplatedApp,
  { replies, cors, metrics }: WsRouteDeps,
  endpoint: WsEndpoint,
): void {
  const meter = routeMeter(metrics, endpoint);
  addGetRoute(app, endpoint, (adapt) => (res, req) => {
    const error = new RequestError(426, 'upgrade_required', 'connect with a WebSocket client');
    const headers = `${cors(req)}\r\nUpgrade: websocket`;
    sendMetered(meter, replies, res, () => adapt(errorAnswer(error, headers)));
  });
}

/** Upgrades requests with a valid key below its connection limit. */
function upgradeHandler(deps: WsRouteDeps, endpoint: WsEndpoint) {
  const { access, connections, replies, cors, settings } = deps;
  const meter = routeMeter(deps.metrics, endpoint);

  return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
    const startedAt = performance.now();
    const refuse = (answer: Answer) => sendMetered(meter, replies, res, () => closeIfChunked(req, answer));
    const apiKey = apiKeyOf(req);
    const key = apiKey === '' ? null : access.keys.verify(apiKey);
    if (key === null) return refuse(unauthorized(cors(req)));
    if (!mayConnect(key, endpoint)) return refuse(forbidden(endpoint, cors(req)));
    const data: SocketData = { key, apiKey, address: addressText(deps.clientAddress(res, req)) };
    if (!connections.admits(holderOf(data))) {
      return refuse(tooManyConnections(settings.max_connections_per_key, cors(req)));
    }
    res.upgrade<SocketData>(
      data,
      req.getHeader('sec-websocket-key'),
      firstOf(req.getHeader('sec-websocket-protocol')),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
    meter({ status: 101 }, startedAt);
  };
}

/** The server must choose one of the offered subprotocols. It does not use them. */
function firstOf(protocols: string): string {
  return protocols.split(',', 1)[0]?.trim() ?? '';
}

function forbidden(endpoint: WsEndpoint, cors: string): Answer {
  const message = `this key may not use ${endpoint}; ask the operator of this server to allow it`;
  return jsonAnswer(403, errorJson('null', { code: RpcCode.methodNotFound, message }), cors);
}

function tooManyConnections(limit: number, cors: string): Answer {
  const message = `connection limit reached: ${limit} per API key`;
  return jsonAnswer(429, errorJson('null', { code: RpcCode.limitExceeded, message }), cors);
}
