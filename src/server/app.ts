/** The HTTP server: one port for everything. */
import type { Access } from '../access/access.ts';
import type { Api } from '../api/api.ts';
import { hostPort } from '../lib/host-port.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { RpcHandler } from '../rpc/handler.ts';
import type { StreamHub } from '../stream/hub.ts';
import type { IndexStatus } from '../types.ts';
import { type AdminOptions, addAdminRoutes } from './admin.ts';
import { AdminGate } from './admin-gate.ts';
import { loadAssets } from './assets.ts';
import { UnfinishedBodies } from './body.ts';
import { Capacity } from './capacity.ts';
import { corsLines } from './cors.ts';
import { addOpenApiRoute, docsAssets, OPENAPI_PATH } from './docs.ts';
import { Door } from './door.ts';
import { addFallback } from './fallback.ts';
import { addHealthRoutes } from './health.ts';
import { addRestRoutes } from './http.ts';
import type { HttpMetrics } from './meter.ts';
import { Replies } from './reply.ts';
import { addRpcRoute, RPC_PATH } from './rpc.ts';
import { addStaticRoutes } from './static.ts';
import { readiness, StallWatch, withoutAddresses } from './status.ts';
import { datesFault, readTlsFiles } from './tls.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';
import { addWsRoutes, type StreamSettings, type WsRoutes } from './ws.ts';
import type { WsConnections } from './ws-connections.ts';

/** How long closing waits for pending answers: the daemon stops within ten seconds, two are for the last commit. */
const DRAIN_MS = 8_000;

/**
 * How long connections that are open when closing begins still get one last answer each: a request that a client sent
 * before it could know must not be lost, and may take so long to arrive.
 */
const LAST_REQUESTS_MS = 200;

/** The `[server]` table of the configuration. */
export interface ServerSettings {
  host: string;
  port: number;
  tls_cert: string;
  tls_key: string;
  cors_origins: readonly string[];
  max_connections: number;
}

export interface ServerOptions {
  settings: ServerSettings;
  api: Api;
  rpc: RpcHandler;
  access: Pick<Access, 'keys' | 'limiter' | 'usage'>;
  /** The indexer's state as last reported. */
  indexState: () => IndexStatus;
  /** Blocks behind the node's head up to which `/readyz` says ready. */
  readyLag: number;
  /** Symbol of the chain's own coin, for the explorer. */
  nativeSymbol: string;
  /** The operator's panel; absent when it is off. */
  admin?: AdminOptions;
  /** The streams; absent when the server has none. */
  streams?: { hub: StreamHub; settings: StreamSettings; connections: WsConnections };
  metrics: HttpMetrics & WsRoutes['metrics'] & Pick<Metrics, 'ready' | 'onRender'>;
  log: Logger;
}

export interface Server {
  url: string;
  port: number;
  /**
   * Applies new origins and a renewed certificate without closing a connection. Throws ConfigError for an unusable
   * certificate, with nothing changed.
   */
  reload(settings: Pick<ServerSettings, 'tls_cert' | 'tls_key' | 'cors_origins'>): Promise<void>;
  /** Stops accepting, waits for pending answers, closes all connections. */
  close(): Promise<void>;
}

/** Starts to listen. Rejects with ListenError when it cannot bind the address, with ConfigError for a bad certificate. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { settings, access, admin, metrics, log } = options;
  let cors = corsLines(settings.cors_origins);
  const stallWatch = new StallWatch(log);
  const unready = () => {
    const state = withoutAddresses(options.indexState());
    return readiness(state, options.readyLag, stallWatch.stalled(state, performance.now()));
  };
  const shared: SharedRoutes = {
    ...options,
    gate: access,
    adminGate: admin && new AdminGate(admin.token),
    assets: new Map([...loadAssets(), ...docsAssets()]),
    replies: new Replies(log),
    capacity: new Capacity(settings.max_connections, log),
    unfinished: new UnfinishedBodies(),
    cors: (req) => cors(req),
    unready,
    tls: settings.tls_cert !== '',
  };
  const door = await Door.open(settings, (app) => addRoutes(app, shared));
  if (shared.tls) warnOfDates(settings, log);
  metrics.onRender(() => metrics.ready.set(unready() === null ? 1 : 0));
  const endStallWatch = stallWatch.follow(options.indexState);
  return {
    url: `${shared.tls ? 'https' : 'http'}://${hostPort(settings.host, door.port)}`,
    port: door.port,
    async reload(changed) {
      await door.renew(changed);
      if (shared.tls && changed.tls_cert !== '') warnOfDates(changed, log);
      cors = corsLines(changed.cors_origins);
    },
    async close() {
      door.shut();
      options.streams?.connections.close();
      shared.replies.closeBehind();
      await shared.capacity.empty(LAST_REQUESTS_MS);
      await shared.replies.drain(DRAIN_MS);
      door.end();
      endStallWatch();
    },
  };
}

/** It is served all the same: some clients do not look. */
function warnOfDates({ tls_cert, tls_key }: Pick<ServerSettings, 'tls_cert' | 'tls_key'>, log: Logger): void {
  const fault = datesFault(tls_cert, readTlsFiles(tls_cert, tls_key).cert);
  if (fault !== null) log.warn({ reason: fault }, 'the certificate is out of its dates');
}

interface SharedRoutes extends ServerOptions {
  gate: ServerOptions['access'];
  adminGate: AdminGate | undefined;
  assets: ReturnType<typeof loadAssets>;
  replies: Replies;
  capacity: Capacity;
  unfinished: UnfinishedBodies;
  unready: () => string | null;
  cors: (req: HttpRequest) => string;
  tls: boolean;
}

/** Registers all routes. */
function addRoutes(app: TemplatedApp, shared: SharedRoutes): void {
  const { api, admin, adminGate, streams } = shared;
  shared.capacity.guard(app);
  const health = addHealthRoutes(app, shared);
  addRestRoutes(app, shared);
  addRpcRoute(app, shared);
  const sockets = streams ? addWsRoutes(app, { ...shared, ...streams }) : [];
  addOpenApiRoute(app, shared);
  const assets = addStaticRoutes(app, { ...shared, panel: admin !== undefined });
  if (admin && adminGate) addAdminRoutes(app, { ...shared, ...admin, gate: adminGate });
  addFallback(app, {
    ...shared,
    methods: new Map([
      ...api.endpoints.map(({ endpoint }) => [endpoint.path, endpoint.method] as const),
      [RPC_PATH, 'POST'],
      ...[...health, ...sockets, OPENAPI_PATH, ...assets].map((path) => [path, 'GET'] as const),
    ]),
    needsKey: (path) => path.startsWith('/api/') || path === RPC_PATH,
  });
}
