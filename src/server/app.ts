/** The HTTP server: one port for everything. */
import type { Access } from '../access/access.ts';
import type { Api } from '../api/api.ts';
import type { Logger } from '../log.ts';
import type { RpcHandler } from '../rpc/passthrough.ts';
import type { IndexStatus } from '../types.ts';
import { type AdminOptions, addAdminRoutes } from './admin.ts';
import { loadAssets } from './assets.ts';
import { corsLines } from './cors.ts';
import { addFallback } from './fallback.ts';
import { addHealthRoutes } from './health.ts';
import { addRestRoutes } from './http.ts';
import { listen } from './listen.ts';
import type { HttpMetrics } from './meter.ts';
import { Replies } from './reply.ts';
import { addRpcRoute, RPC_PATH } from './rpc.ts';
import { addStaticRoutes } from './static.ts';
import { checkTlsFiles } from './tls.ts';
import {
  App,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from './uws.ts';

/** How long closing waits for answers that are still owed. */
const DRAIN_MS = 10_000;

/** The `[server]` table of the configuration. */
export interface ServerSettings {
  host: string;
  port: number;
  tls_cert: string;
  tls_key: string;
  cors_origins: readonly string[];
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
  /** The operator's panel; absent when it is off. */
  admin?: AdminOptions;
  metrics: HttpMetrics;
  log: Logger;
}

export interface Server {
  url: string;
  port: number;
  /** Stops accepting, waits for the answers that are owed, closes all connections. Can be called more than once. */
  close(): Promise<void>;
}

/** Starts to listen. Rejects with ListenError when the address cannot be had, with ConfigError for an unusable certificate. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { settings, api, access: gate, admin } = options;
  const tls = settings.tls_cert !== '';
  const app = tls ? tlsApp(settings) : App();
  const shared = {
    ...options,
    gate,
    replies: new Replies(options.log),
    cors: corsLines(settings.cors_origins),
  };
  const endHealth = addHealthRoutes(app, shared);
  addRestRoutes(app, shared);
  addRpcRoute(app, shared);
  const assets = addStaticRoutes(app, { ...shared, assets: loadAssets(), panel: admin !== undefined });
  if (admin !== undefined) addAdminRoutes(app, { ...shared, ...admin, tls });
  addFallback(app, {
    ...shared,
    methods: new Map([
      ...api.endpoints.map(({ endpoint }) => [endpoint.path, endpoint.method] as const),
      [RPC_PATH, 'POST'],
      ['/healthz', 'GET'],
      ['/readyz', 'GET'],
      ['/status', 'GET'],
      ...assets.map((path) => [path, 'GET'] as const),
    ]),
    needsKey: (path) => path.startsWith('/api/') || path === RPC_PATH,
  });
  let socket: us_listen_socket;
  try {
    socket = await listen(app, settings.host, settings.port);
  } catch (error) {
    endHealth();
    app.close();
    throw error;
  }
  const port = us_socket_local_port(socket);
  let closing: Promise<void> | undefined;
  const close = async () => {
    us_listen_socket_close(socket);
    await shared.replies.drain(DRAIN_MS);
    endHealth();
    app.close();
  };
  return {
    url: `${tls ? 'https' : 'http'}://${urlHost(settings.host)}:${port}`,
    port,
    close() {
      closing ??= close(); // closing a listen socket twice ends the process
      return closing;
    },
  };
}

function tlsApp({ tls_cert, tls_key }: ServerSettings): TemplatedApp {
  checkTlsFiles(tls_cert, tls_key);
  return SSLApp({ cert_file_name: tls_cert, key_file_name: tls_key });
}

/** A host as it stands in a URL: IPv6 addresses in brackets. */
function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
