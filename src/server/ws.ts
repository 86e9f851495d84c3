/** The WebSocket routes: who may connect, and how messages get in and out. */
import { isUtf8 } from 'node:buffer';
import { RequestError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { errorJson, RpcCode } from '../rpc/errors.ts';
import type { RpcHandler } from '../rpc/handler.ts';
import { CloseCode } from '../stream/close-code.ts';
import { FLOODING, KEY_INVALID } from '../stream/close-frames.ts';
import type { StreamHub } from '../stream/hub.ts';
import { type Answer, errorAnswer, jsonAnswer, unauthorized } from './answer.ts';
import { apiKeyOf, type ClientAccess } from './authenticate.ts';
import { closeIfChunked } from './body.ts';
import type { ConnectionLimiter } from './connection-limiter.ts';
import { addGetRoute } from './get-route.ts';
import { type HttpMetrics, routeMeter, sendMetered } from './meter.ts';
import type { ReplyWriter } from './reply.ts';
import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from './uws.ts';
import { type Client, type SocketData, WsConnection, type WsEndpoint } from './ws-connection.ts';
import type { WsConnectionLimits, WsConnections } from './ws-connections.ts';
import { Inbox } from './ws-inbox.ts';
import { ethMessageHandler, type MessageHandler, signalMessageHandler } from './ws-message-handlers.ts';

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
  connectionLimiter: Pick<ConnectionLimiter, 'onWebSocketClosed'>;
  cors: (req: HttpRequest) => string;
  metrics: HttpMetrics & Pick<Metrics, 'sockets' | 'slowConsumers'>;
  log: Logger;
}

/** A message of up to so many times the limit gets the proper close code; beyond it the library cuts the connection. */
const HARD_LIMIT_FACTOR = 4;
/** The library's own limit of silence comes after ours. Its largest is 960. */
const LIBRARY_IDLE_SECONDS = 8;
const MAX_LIBRARY_IDLE_SECONDS = 960;

const ENDPOINTS: readonly WsEndpoint[] = ['/ws', '/ws/signals'];

/** Registers both endpoints and returns the paths. */
export function addWsRoutes(app: TemplatedApp, deps: WsRouteDeps): readonly string[] {
  const { rpc, access, log } = deps;
  const handlerDeps = { rpc, limiter: access.limiter, log };
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
    if (client !== undefined) client.connection.lastSeen = performance.now();
    return client;
  };

  app.ws<SocketData>(endpoint, {
    maxPayloadLength: settings.max_message_bytes * HARD_LIMIT_FACTOR,
    // Outbox enforces the limit; the library must never drop a message by itself.
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
      connection.countTowardsTurn();
      if (message.byteLength > settings.max_message_bytes) {
        return connection.close(
          CloseCode.messageTooBig,
          `message larger than ${settings.max_message_bytes} bytes`,
        );
      }
      // Some clients (web3.py) send binary messages. Of these the library does not check the encoding.
      if (isBinary && !isUtf8(message)) {
        return connection.close(CloseCode.invalidText, 'the message is not UTF-8');
      }
      client.inbox.enqueue(Buffer.from(new Uint8Array(message))); // a copy: the library reuses the memory
    },
    drain: (socket) => socket.getUserData().client?.connection.onDrain(),
    ping(socket) {
      const client = touch(socket);
      client?.connection.countTowardsFlood();
      // The library answers pings by itself and buffers the pongs for a client that does not read.
      if (client !== undefined && client.connection.unsentPongBytes > settings.max_backlog_bytes)
        socket.close();
    },
    pong: (socket) => touch(socket)?.connection.countTowardsFlood(), // also unasked ones come here
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
  });
}

/** What belongs to a socket that has just been opened. */
function createClient(
  socket: WebSocket<SocketData>,
  { hub, connections, settings, access, metrics, log }: WsRouteDeps,
  endpoint: WsEndpoint,
  handleMessage: MessageHandler,
): Client {
  const { id } = socket.getUserData().key;
  const connection = new WsConnection(socket, {
    endpoint,
    limits: {
      notificationBytes: settings.max_backlog_bytes,
      answerBudget: connections.answerBudget.forClient(id),
    },
    onSlowConsumer() {
      metrics.slowConsumers.inc();
      log.warn({ endpoint, key: id }, 'closed a connection that fell behind');
    },
  });
  const session = hub.session(endpoint === '/ws' ? 'eth' : 'signals', connection);
  const inbox = new Inbox({
    connection,
    maxBytes: settings.max_backlog_bytes,
    onOverflow: () => connection.close(...FLOODING),
    async handle(body) {
      if (connection.isClosing) return;
      const key = access.keys.verify(connection.apiKey);
      if (key === null) connection.close(...KEY_INVALID);
      else await handleMessage({ connection, session, key, body });
    },
  });
  return { connection, session, inbox };
}

/** The answer to a request that does not ask for a WebSocket upgrade. */
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

/** Upgrades requests with a valid key that has not too many connections. */
function upgradeHandler(deps: WsRouteDeps, endpoint: WsEndpoint) {
  const { access, connections, replies, cors, settings } = deps;
  const meter = routeMeter(deps.metrics, endpoint);

  return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
    const startedAt = performance.now();
    const refuse = (answer: Answer) => sendMetered(meter, replies, res, () => closeIfChunked(req, answer));
    const apiKey = apiKeyOf(req);
    const key = apiKey === '' ? null : access.keys.verify(apiKey);
    if (key === null) return refuse(unauthorized(cors(req)));
    if (!connections.admits(key.id)) {
      return refuse(tooManyConnections(settings.max_connections_per_key, cors(req)));
    }
    res.upgrade<SocketData>(
      { key, apiKey },
      req.getHeader('sec-websocket-key'),
      firstOf(req.getHeader('sec-websocket-protocol')),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
    meter(101, startedAt);
  };
}

/** The server has to choose one of the protocols that a client offers; their meaning is ignored. */
function firstOf(protocols: string): string {
  return protocols.split(',', 1)[0]?.trim() ?? '';
}

function tooManyConnections(limit: number, cors: string): Answer {
  const message = `connection limit reached: ${limit} per API key`;
  return jsonAnswer(429, errorJson('null', { code: RpcCode.limitExceeded, message }), cors);
}
