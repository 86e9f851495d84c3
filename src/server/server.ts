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
import { AdminAuth } from './admin-auth.ts';
import { loadAssets } from './assets.ts';
import { BodyBudget } from './body.ts';
import { ConnectionLimiter } from './connection-limiter.ts';
import { corsPolicy } from './cors.ts';
import { addOpenApiRoute, docsAssets, OPENAPI_PATH } from './docs.ts';
import { addFallback } from './fallback.ts';
import { addHealthRoutes } from './health.ts';
import { Listener, type ListenerSettings } from './listener.ts';
import type { HttpMetrics } from './meter.ts';
import { ReplyWriter } from './reply.ts';
import { addRestRoutes } from './rest-routes.ts';
import { addRpcRoute, RPC_PATH } from './rpc.ts';
import { addStaticRoutes } from './static.ts';
import { notReadyReason, redactLocations, StallDetector } from './status.ts';
import { certificateDateError, readTlsFiles } from './tls.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';
import { addWsRoutes, type StreamSettings, type WsRouteDeps } from './ws.ts';
import type { WsConnections } from './ws-connections.ts';

/** How long closing waits for pending answers: the daemon stops within ten seconds, two are for the last commit. */
const DRAIN_MS = 8_000;

/**
 * How long connections that are open when closing begins still get one last answer each: a request that a client sent
 * before it could know must not be lost, and may take so long to arrive.
 */
const CLOSE_GRACE_MS = 200;

/** The `[server]` table of the configuration. */
export interface ServerSettings extends ListenerSettings {
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
  /** The data folder, of which only the operator learns where it is. */
  dataDir: string;
  /** Blocks between the index and the node's head up to which `/readyz` says ready. */
  readyLag: number;
  /** Symbol of the chain's own coin, for the explorer. */
  nativeSymbol: string;
  /** The operator's panel; absent when it is off. */
  admin?: AdminOptions;
  /** The streams; absent when the server has none. */
  streams?: { hub: StreamHub; settings: StreamSettings; connections: WsConnections };
  metrics: HttpMetrics & WsRouteDeps['metrics'] & Pick<Metrics, 'ready' | 'onCollect'>;
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

/** Starts to listen. Rejects with ListenError when it cannot bind the address, ConfigError for a bad certificate. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { settings, admin, metrics, log } = options;
  let cors = corsPolicy(settings.cors_origins);
  const stallDetector = new StallDetector(log);
  const publicState = () => redactLocations(options.indexState(), options.dataDir);
  const readinessProbe = () => {
    const state = publicState();
    return notReadyReason(state, options.readyLag, stallDetector.isStalled(state, performance.now()));
  };
  const deps: RouteDeps = {
    ...options,
    adminAuth: admin && new AdminAuth(admin.token),
    assets: new Map([...loadAssets(), ...docsAssets()]),
    replies: new ReplyWriter(log),
    connectionLimiter: new ConnectionLimiter(settings.max_connections, log),
    bodyBudget: new BodyBudget(),
    cors: (req) => cors(req),
    publicState,
    readinessProbe,
    tls: settings.tls_cert !== '',
  };
  const listener = await Listener.open(settings, (app) => addRoutes(app, deps));
  if (deps.tls) warnAboutCertificateDates(settings, log);
  metrics.onCollect(() => metrics.ready.set(readinessProbe() === null ? 1 : 0));
  const stopStallDetector = stallDetector.start(options.indexState);
  return {
    url: `${deps.tls ? 'https' : 'http'}://${hostPort(settings.host, listener.port)}`,
    port: listener.port,
    async reload(changed) {
      await listener.renewCertificate(changed);
      if (deps.tls && changed.tls_cert !== '') warnAboutCertificateDates(changed, log);
      cors = corsPolicy(changed.cors_origins);
    },
    async close() {
      listener.stopAccepting();
      options.streams?.connections.close();
      deps.replies.closeAfterAnswers();
      await deps.connectionLimiter.waitUntilEmpty(CLOSE_GRACE_MS);
      await deps.replies.drain(DRAIN_MS);
      listener.closeConnections();
      stopStallDetector();
    },
  };
}

/** The certificate is served all the same: some clients do not look at its dates. */
function warnAboutCertificateDates(
  { tls_cert, tls_key }: Pick<ServerSettings, 'tls_cert' | 'tls_key'>,
  log: Logger,
): void {
  const reason = certificateDateError(tls_cert, readTlsFiles(tls_cert, tls_key).cert);
  if (reason !== null) log.warn({ reason }, 'the certificate is out of its dates');
}

interface RouteDeps extends ServerOptions {
  adminAuth: AdminAuth | undefined;
  assets: ReturnType<typeof loadAssets>;
  replies: ReplyWriter;
  connectionLimiter: ConnectionLimiter;
  bodyBudget: BodyBudget;
  publicState: () => IndexStatus;
  readinessProbe: () => string | null;
  cors: (req: HttpRequest) => string;
  tls: boolean;
}

/** Registers all routes. */
function addRoutes(app: TemplatedApp, deps: RouteDeps): void {
  const { api, admin, adminAuth, streams } = deps;
  deps.connectionLimiter.attach(app);
  const health = addHealthRoutes(app, deps);
  addRestRoutes(app, deps);
  addRpcRoute(app, deps);
  const sockets = streams ? addWsRoutes(app, { ...deps, ...streams }) : [];
  addOpenApiRoute(app, deps);
  const assets = addStaticRoutes(app, { ...deps, panel: admin !== undefined });
  if (admin && adminAuth) addAdminRoutes(app, { ...deps, ...admin, auth: adminAuth });
  addFallback(app, {
    ...deps,
    methods: new Map([
      ...api.endpoints.map(({ endpoint }) => [endpoint.path, endpoint.method] as const),
      [RPC_PATH, 'POST'],
      ...[...health, ...sockets, OPENAPI_PATH, ...assets].map((path) => [path, 'GET'] as const),
    ]),
    needsKey: (path) => path.startsWith('/api/') || path === RPC_PATH,
  });
}
