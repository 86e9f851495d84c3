/** The server: REST, JSON-RPC, WebSockets and pages on one port. */
import type { Access } from '../access/access.ts';
import type { Api } from '../api/api.ts';
import type { NamedQueries } from '../api/queries/named-queries.ts';
import type { RpcHandler } from '../gateway/handler.ts';
import { pause } from '../lib/async.ts';
import { hostPort } from '../lib/text.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ExampleAddress } from '../model/address.ts';
import type { ClusterStatus } from '../model/cluster-status.ts';
import { type IndexStatus, isFromFuture, isStale, lagSeconds } from '../model/index-status.ts';
import type { SinkStatus } from '../model/sink-status.ts';
import type { StreamHub } from '../streams/hub.ts';
import { AdminAuth } from './admin/auth.ts';
import { type AdminOptions, addAdminRoutes } from './admin/routes.ts';
import { guardApp } from './guard-app.ts';
import { corsPolicy, RPC_PATH } from './http/answer.ts';
import { BodyBudget } from './http/body.ts';
import { type ClientAddress, clientAddressOf } from './http/client-address.ts';
import { addFallback } from './http/fallback.ts';
import { guardFraming } from './http/framing.ts';
import { addHealthRoutes, type HookSummary, redactLocations } from './http/health.ts';
import {
  certificateChainError,
  certificateDateError,
  Listener,
  type ListenerSettings,
  readTlsFiles,
} from './http/listener.ts';
import { addQueryRoutes, queryAt } from './http/query-routes.ts';
import { notReadyReason, type ReadinessLimits, StaleWatch, StallDetector } from './http/readiness.ts';
import { ReplyWriter } from './http/reply.ts';
import { addRestRoutes } from './http/rest-routes.ts';
import type { HttpMetrics } from './http/route.ts';
import { addRpcRoute } from './http/rpc.ts';
import { addMcpRoute, MCP_PATH } from './mcp/mcp-route.ts';
import { ConnectionLimiter } from './overload.ts';
import { loadAssets } from './pages/assets.ts';
import { addDocumentRoutes } from './pages/docs.ts';
import { addStaticRoutes } from './pages/static.ts';
import type { HttpRequest, TemplatedApp } from './uws.ts';
import type { WsConnections } from './ws/connections.ts';
import { addWsRoutes, type StreamSettings, type WsRouteDeps } from './ws/routes.ts';

/**
 * How long closing waits for pending answers. The daemon must stop within ten seconds and keeps two for the last
 * commit.
 */
const DRAIN_MS = 8_000;

/**
 * How long each open connection may get one last answer after closing begins, so that no request already in flight is
 * lost.
 */
const CLOSE_GRACE_MS = 200;

/** The `[server]` table of the configuration. */
export interface ServerSettings extends ListenerSettings {
  cors_origins: readonly string[];
  trusted_proxies: readonly string[];
  max_connections: number;
  drain_seconds: number;
  public_explorer: boolean;
}

interface ServerOptions extends ReadinessLimits {
  settings: ServerSettings;
  api: Api;
  /** Absent where none can be offered. */
  queries?: NamedQueries;
  rpc: RpcHandler;
  access: Pick<Access, 'keys' | 'changes' | 'limiter' | 'usage' | 'waitingLine'>;
  /** The last state the indexer reported. */
  indexState: () => IndexStatus;
  /** The state of the PostgreSQL sink; absent without a sink. */
  sinkState?: (() => SinkStatus) | undefined;
  /** The state of keys shared with other daemons; absent if keys are not shared. */
  clusterState?: (() => ClusterStatus) | undefined;
  /** The data directory. Only the operator may see its path. */
  dataDir: string;
  /** Symbol of the native coin, for the explorer. */
  nativeSymbol: string;
  /** Addresses that the explorer's home page suggests. */
  examples: readonly ExampleAddress[];
  /** The state of webhooks for `/status`; absent without them. */
  hookSummary?: () => HookSummary;
  /** The operator's panel; absent when it is off. */
  admin?: AdminOptions;
  /** The streams; absent if the server has none. */
  streams?: { hub: StreamHub; settings: StreamSettings; connections: WsConnections };
  metrics: HttpMetrics &
    WsRouteDeps['metrics'] &
    Pick<Metrics, 'ready' | 'lagSeconds' | 'stale' | 'onCollect'>;
  log: Logger;
}

export interface Server {
  url: string;
  port: number;
  /**
   * Applies new origins and a renewed certificate without closing a connection. For an unusable certificate, throws
   * ConfigError and changes nothing.
   */
  reload(settings: Pick<ServerSettings, 'tls_cert' | 'tls_key' | 'cors_origins'>): Promise<void>;
  /** Why `/readyz` reports not ready, or null. */
  notReadyReason(): string | null;
  /** Makes `/readyz` report not ready, and resolves after `drain_seconds` of normal service. */
  drain(): Promise<void>;
  /** Stops accepting connections, waits for pending answers, then closes all connections. */
  close(): Promise<void>;
}

/** Starts listening. Rejects with ListenError when it cannot bind, with ConfigError for a bad certificate. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { settings, admin, metrics, log } = options;
  let cors = corsPolicy(settings.cors_origins);
  const stallDetector = new StallDetector(log);
  const staleWatch = new StaleWatch(log, options.staleSeconds);
  const publicState = () => redactLocations(options.indexState(), options.dataDir);
  let isDraining = false;
  const readinessProbe = () => {
    if (isDraining) return 'the server is shutting down';
    const state = publicState();
    const isStalled = stallDetector.isStalled(state, performance.now());
    return notReadyReason(state, options, isStalled, Date.now(), staleWatch.keepsTime);
  };
  const deps: RouteDeps = {
    ...options,
    adminAuth: admin && new AdminAuth(admin.token),
    assets: await loadAssets(),
    replies: new ReplyWriter(log),
    connectionLimiter: new ConnectionLimiter(settings.max_connections, log),
    bodyBudget: new BodyBudget(),
    cors: (req) => cors(req),
    publicState,
    readinessProbe,
    keepsTime: () => staleWatch.keepsTime,
    tls: settings.tls_cert !== '',
    clientAddress: clientAddressOf(settings.trusted_proxies),
  };
  const listener = await Listener.open(settings, (app) => addRoutes(app, deps));
  if (deps.tls) warnAboutCertificate(settings, log);
  metrics.onCollect(() => {
    const state = options.indexState();
    metrics.ready.set(readinessProbe() === null ? 1 : 0);
    metrics.lagSeconds.setOrClear(lagSeconds(state, Date.now()));
    const isOff = [isStale, isFromFuture].some((is) => is(state, options.staleSeconds, Date.now()));
    metrics.stale.set(isOff ? 1 : 0);
  });
  const stopStallDetector = stallDetector.start(options.indexState);
  const stopStaleWatch = staleWatch.start(options.indexState);
  return {
    url: `${deps.tls ? 'https' : 'http'}://${hostPort(settings.host, listener.port)}`,
    port: listener.port,
    notReadyReason: readinessProbe,
    async reload(changed) {
      await listener.renewCertificate(changed);
      if (deps.tls && changed.tls_cert !== '') warnAboutCertificate(changed, log);
      cors = corsPolicy(changed.cors_origins);
    },
    async drain() {
      isDraining = true;
      await pause(settings.drain_seconds * 1000);
    },
    async close() {
      isDraining = true;
      listener.stopAccepting();
      options.streams?.connections.close();
      deps.replies.closeAfterAnswers();
      await deps.connectionLimiter.waitUntilEmpty(CLOSE_GRACE_MS);
      await deps.replies.drain(DRAIN_MS);
      listener.closeConnections();
      stopStallDetector();
      stopStaleWatch();
    },
  };
}

/** Only warns, because some clients ignore a certificate's dates or know its issuers. */
function warnAboutCertificate(
  { tls_cert, tls_key }: Pick<ServerSettings, 'tls_cert' | 'tls_key'>,
  log: Logger,
): void {
  const { cert } = readTlsFiles(tls_cert, tls_key);
  const reason = certificateDateError(tls_cert, cert);
  if (reason !== null) log.warn({ reason }, 'the certificate is expired or not yet valid');
  const chain = certificateChainError(tls_cert, cert);
  if (chain !== null) log.warn({ reason: chain }, 'clients may not trust the certificate');
}

interface RouteDeps extends ServerOptions {
  adminAuth: AdminAuth | undefined;
  assets: Awaited<ReturnType<typeof loadAssets>>;
  replies: ReplyWriter;
  connectionLimiter: ConnectionLimiter;
  bodyBudget: BodyBudget;
  publicState: () => IndexStatus;
  readinessProbe: () => string | null;
  keepsTime: () => boolean;
  cors: (req: HttpRequest) => string;
  tls: boolean;
  clientAddress: ClientAddress;
}

/** Registers all routes. */
function addRoutes(app: TemplatedApp, deps: RouteDeps): void {
  const { api, admin, adminAuth, queries, streams } = deps;
  guardApp(app);
  guardFraming(app);
  deps.connectionLimiter.attach(app);
  const health = addHealthRoutes(app, deps);
  addRestRoutes(app, deps);
  if (queries) addQueryRoutes(app, { ...deps, queries });
  addRpcRoute(app, deps);
  addMcpRoute(app, deps);
  const sockets = streams ? addWsRoutes(app, { ...deps, ...streams }) : [];
  const documents = addDocumentRoutes(app, deps);
  const { paths: pages, unknownPage } = addStaticRoutes(app, {
    ...deps,
    panel: admin !== undefined,
    isPublic: deps.settings.public_explorer,
  });
  if (admin && adminAuth) addAdminRoutes(app, { ...deps, ...admin, auth: adminAuth });
  const methods = new Map<string, 'GET' | 'POST'>([
    ...api.endpoints.map(({ endpoint }) => [endpoint.path, endpoint.method] as const),
    [RPC_PATH, 'POST'],
    [MCP_PATH, 'POST'],
    ...[...health, ...sockets, ...documents, ...pages].map((path) => [path, 'GET'] as const),
  ]);
  addFallback(app, {
    ...deps,
    methodOf: (path) => methods.get(path) ?? (queries && queryAt(queries, path) && 'GET'),
    needsKey: (path) => path.startsWith('/api/') || path === RPC_PATH || path === MCP_PATH,
    unknownPage,
  });
}
